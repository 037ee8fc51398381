"""A batch whose operations belong to different groups, which `batch_isend_irecv` refuses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.expected_errors import is_expected_to_fail
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.groups.group_identity import creation, group_key, is_default_group
from torchlift.rules.distributed.p2p.batches.batch_operations import operations_of
from torchlift.rules.distributed.p2p.calls import BATCH, OP_PARAMETERS
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL219",
    name="batch-mixed-groups",
    summary="A point-to-point batch with operations of different groups",
    why=(
        "A batch is one call into one communicator. `batch_isend_irecv` compares the groups of its operations and raises "
        '`ValueError("All ops need to use the same group.")` if they differ; code that comes from single `isend` and '
        "`irecv` calls, where every call could name its own group, runs into it."
    ),
    fix=(
        "Not offered: which operations can go together, and in which order the batches are posted, is for you to say. "
        "An error where two operations surely have different groups: made by different `new_group` calls, or the "
        "default group and another one. A warning where they name two groups that come from elsewhere."
    ),
    targets=(BATCH,),
    triggers=("batch_isend_irecv",),
    severity=Severity.ERROR,
    sources=(
        "torch/distributed/distributed_c10d.py, `_check_p2p_op_list`, torch 2.13.0 and 2.15.0, read 2026-11-21",
        "measured on gloo with torch 2.13.0 and 2.15.0: ValueError",
    ),
)

_MESSAGE = (
    "The operations of this batch belong to different groups ({first} and {second}), and `batch_isend_irecv` then raises "
    '`ValueError("All ops need to use the same group.")` on every backend.'
)

_NAMED = (
    "The operations of this batch name two groups, {first} and {second}; unless both are one group, `batch_isend_irecv` "
    'raises `ValueError("All ops need to use the same group.")` on every backend.'
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.call is None or use.kind != "call" or is_expected_to_fail(view, use.call):
        return
    seen: list[tuple[object, str]] = []
    named: dict[str, str] = {}
    for operation in operations_of(view, use.call):
        arguments = named_arguments(operation, OP_PARAMETERS)
        if arguments is None:
            return
        group = arguments.get("group")
        made = creation(view, group)
        if group is None or isinstance(group, (ast.Name, ast.Attribute, ast.Constant)):
            value = assigned_value(view, group) if isinstance(group, ast.Name) else None
            named.setdefault(group_key(view, value if value is not None else group), _called(view, group))
        if made is None:
            continue
        seen.append((made, "the default group" if made == "default" else _called(view, group)))
    different = [name for made, name in seen if made is not seen[0][0]]
    if not different and len(named) < 2:
        return
    advice = (
        "Post one batch for each group, and wait for all of them: "
        "`reqs = dist.batch_isend_irecv(ops_of_one_group) + dist.batch_isend_irecv(ops_of_the_other)`; every rank has to "
        "post the batches in the same order. Or make one group that holds all the ranks involved."
    )
    if different:
        message, severity = _MESSAGE.format(first=seen[0][1], second=different[0]), Severity.ERROR
    else:
        first, second, *_ = named.values()
        message, severity = _NAMED.format(first=first, second=second), Severity.WARNING
    yield Finding("TL219", view.path, view.span(use.node), message, severity, advice)


def _called(view: ModuleView, group: ast.expr | None) -> str:
    return "the default group" if group is None or is_default_group(view, group) else f"`{view.text(group)}`"


_TWO = (
    "import torch.distributed as dist\n\n\ndef exchange(x, y, peer):\n"
    "    rows = dist.new_group([0, 1])\n    columns = dist.new_group([0, 2])\n"
)

EXAMPLES = (
    Bad(
        _TWO + "    return dist.batch_isend_irecv([\n"
        "        dist.P2POp(dist.isend, x, peer, rows),\n        dist.P2POp(dist.irecv, y, peer, group=columns),\n    ])\n",
        why="two groups made in the function",
    ),
    Bad(
        "from torch.distributed import P2POp, batch_isend_irecv, irecv, isend, new_group\n\n\n"
        "def exchange(x, y, peer):\n    rows = new_group([0, 1])\n    send = P2POp(isend, x, peer, rows)\n"
        "    recv = P2POp(irecv, y, peer)\n    for req in batch_isend_irecv([send, recv]):\n        req.wait()\n",
        why="one of them in the default group, names imported one by one",
    ),
    Bad(
        "import torch\n\n\nclass Grid:\n    def __init__(self):\n"
        "        self.rows = torch.distributed.new_group([0, 1])\n"
        "        self.columns = torch.distributed.new_group([0, 2])\n\n"
        "    def exchange(self, x, y, peer):\n        ops = []\n"
        "        ops.append(torch.distributed.P2POp(torch.distributed.isend, x, peer, self.rows))\n"
        "        ops.append(torch.distributed.P2POp(torch.distributed.irecv, y, peer, self.columns))\n"
        "        return torch.distributed.batch_isend_irecv(ops)\n",
        why="attributes of a class",
    ),
    Ok(
        _TWO + "    first = dist.batch_isend_irecv([dist.P2POp(dist.isend, x, peer, rows)])\n"
        "    return first + dist.batch_isend_irecv([dist.P2POp(dist.irecv, y, peer, columns)])\n",
        "one batch for each group",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef exchange(x, y, peer, there, back):\n"
        "    return dist.batch_isend_irecv(\n"
        "        [dist.P2POp(dist.isend, x, peer, there), dist.P2POp(dist.irecv, y, peer, back)]\n    )\n",
        why="two groups that are handed in",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef exchange(x, y, peer, grid):\n    row = grid.group\n"
        "    ops = [dist.P2POp(dist.isend, x, peer, row), dist.P2POp(dist.irecv, y, peer, group=grid.group)]\n"
        "    return dist.batch_isend_irecv(ops)\n",
        "one group that is handed in",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef exchange(x, y, peer, grid):\n"
        "    ops = [dist.P2POp(dist.isend, x, peer, grid.of('row')), dist.P2POp(dist.irecv, y, peer, group=grid.of(0))]\n"
        "    return dist.batch_isend_irecv(ops)\n",
        "groups that may be the same one",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef exchange(x, y, peer):\n    rows = dist.new_group([0, 1])\n"
        "    return dist.batch_isend_irecv(\n"
        "        [dist.P2POp(dist.isend, x, peer, rows), dist.P2POp(dist.irecv, y, peer, group=rows)]\n    )\n",
        "the same group twice",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef exchange(x, y, peer):\n"
        "    return dist.batch_isend_irecv(\n        [dist.P2POp(dist.isend, x, peer), "
        "dist.P2POp(dist.irecv, y, peer, None), dist.P2POp(dist.irecv, y, peer, dist.group.WORLD)]\n    )\n",
        "the default group, written in three ways",
    ),
    Ok(
        "import pytest\nimport torch.distributed as dist\n\n\ndef test_groups(x, y, peer):\n"
        "    rows = dist.new_group([0, 1])\n    columns = dist.new_group([0, 2])\n"
        "    ops = [dist.P2POp(dist.isend, x, peer, rows), dist.P2POp(dist.irecv, y, peer, columns)]\n"
        "    with pytest.raises(ValueError):\n        dist.batch_isend_irecv(ops)\n",
        "a test that wants the error",
    ),
    Ok(
        "from comms import P2POp, batch_isend_irecv, new_group\n\nrows, columns = new_group([0]), new_group([1])\n"
        "batch_isend_irecv([P2POp(1, rows), P2POp(2, columns)])\n",
        "another library",
    ),
)
