"""A `P2POp` made with something else than `isend` or `irecv`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.expected_errors import is_expected_to_fail
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.distributed.p2p.calls import OP, OP_PARAMETERS
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL220",
    name="batch-wrong-operation",
    summary="A `P2POp` with something else than `isend` or `irecv`",
    why=(
        "`P2POp` compares its first argument with the functions `torch.distributed.isend` and `irecv`. The blocking `send` "
        "and `recv`, a `functools.partial`, a lambda and a function of one's own are refused with "
        "``ValueError: Invalid ``op`` ``; this shows when unbatched calls are turned into a batch."
    ),
    fix="Not offered: the code never ran, so nothing says what it was meant to do. The message names what to pass instead.",
    targets=(OP,),
    severity=Severity.ERROR,
    sources=(
        "torch/distributed/distributed_c10d.py, `_check_op`, torch 2.13.0 and 2.15.0, read 2026-11-21",
        "measured on gloo with torch 2.13.0 and 2.15.0: ValueError",
    ),
)

_RIGHT = frozenset({"torch.distributed.isend", "torch.distributed.irecv"})
_ASYNCHRONOUS = {"torch.distributed.send": "isend", "torch.distributed.recv": "irecv"}


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.call is None or use.kind != "call" or is_expected_to_fail(view, use.call):
        return
    arguments = named_arguments(use.call, OP_PARAMETERS)
    if arguments is None or "op" not in arguments:
        return
    op = arguments["op"]
    branches = [op.body, op.orelse] if isinstance(op, ast.IfExp) else [op]
    for branch in branches:
        problem = _problem(view, branch)
        if problem is not None:
            what, advice = problem
            message = (
                f"`P2POp` takes the functions `isend` and `irecv` themselves; with {what} it raises "
                "``ValueError: Invalid ``op`` `` on every backend."
            )
            yield Finding("TL220", view.path, view.span(branch), message, Severity.ERROR, advice)


def _problem(view: ModuleView, node: ast.expr, depth: int = 3) -> tuple[str, str] | None:
    """What `node` is and what to write instead, if it surely is not one of the two functions."""
    text = " ".join(view.text(node).split())
    named = f"`{text}`" if len(text) <= 40 else "this expression"
    wrapped = "Write `dist.P2POp(dist.isend, tensor, peer, group, tag)`: the arguments that are bound here belong to `P2POp` itself."
    match node:
        case ast.Lambda():
            return "a lambda", wrapped
        case ast.Constant():
            return f"the constant {named}", "Pass `dist.isend` or `dist.irecv`, not its name."
        case ast.Call():
            if view.certain_name(node.func) == "functools.partial":
                return "a `functools.partial`", wrapped
            return None
        case ast.Name() | ast.Attribute():
            pass
        case _:
            return None
    resolution = view.resolve(node)
    if resolution is not None:
        if not resolution.certain or resolution.name in _RIGHT:
            return None
        if resolution.name in _ASYNCHRONOUS:
            right = _ASYNCHRONOUS[resolution.name]
            return named, f"Pass `dist.{right}` and wait for what `batch_isend_irecv` returns."
        if resolution.name.startswith("torch.distributed.") and resolution.name.count(".") == 2:
            return named, "Pass `dist.isend` or `dist.irecv`; a collective cannot be part of the batch."
        binding = resolution.binding
        if binding is not None and binding.kind == "def":
            return f"the function {named}", wrapped
        return None
    if isinstance(node, ast.Name) and depth:
        definition = view.definition(node)
        if definition is not None and definition.kind == "def":
            return f"the function {named}", wrapped
        if definition is not None and definition.kind == "assign" and definition.value is not None:
            return _problem(view, definition.value, depth - 1)
    return None


_HEAD = "import torch.distributed as dist\n\n\n"

EXAMPLES = (
    Bad(_HEAD + "def op(x, peer):\n    return dist.P2POp(dist.send, x, peer)\n", why="blocking send"),
    Bad(
        "from torch.distributed import P2POp, recv as receive\n\n\ndef op(x, peer):\n"
        "    return P2POp(op=receive, tensor=x, peer=peer)\n",
        why="blocking recv under another name",
    ),
    Bad(
        "from functools import partial\n\nimport torch\n\n\ndef op(x, peer, group):\n"
        "    post = partial(torch.distributed.isend, group=group)\n"
        "    return torch.distributed.P2POp(post, x, peer)\n",
        why="a partial",
    ),
    Bad(
        _HEAD + "def post(tensor, peer):\n    return dist.isend(tensor, peer)\n\n\ndef op(x, peer):\n"
        "    return dist.P2POp(post, x, peer)\n",
        why="a function of one's own",
    ),
    Bad(
        _HEAD + "def op(x, peer):\n    return dist.P2POp(lambda *a, **k: dist.isend(*a, **k), x, peer)\n",
        why="a lambda",
    ),
    Bad(_HEAD + 'def op(x, peer):\n    return dist.P2POp("isend", x, peer)\n', why="its name as text"),
    Bad(
        "import torch.distributed.distributed_c10d as c10d\n\n\ndef op(x, peer, sends):\n"
        "    return c10d.P2POp(c10d.isend if sends else c10d.recv, x, peer)\n",
        why="one of two",
    ),
    Ok(_HEAD + "def op(x, peer):\n    return dist.P2POp(dist.isend, x, peer)\n", "the function itself"),
    Ok(
        "from torch.distributed import P2POp, irecv\n\nreceive = irecv\n\n\ndef op(x, peer):\n"
        "    return P2POp(receive, x, peer)\n",
        "the function under another name",
    ),
    Ok(_HEAD + "def op(kind, x, peer):\n    return dist.P2POp(kind, x, peer)\n", "a parameter"),
    Ok(
        _HEAD + "def op(sends, x, peer):\n    return dist.P2POp(dist.isend if sends else dist.irecv, x, peer)\n",
        "either of the two",
    ),
    Ok(_HEAD + "def op(name, x, peer):\n    return dist.P2POp(getattr(dist, name), x, peer)\n", "looked up by name"),
    Ok('from comms import P2POp\n\nP2POp("send", 1, 2)\n', "another library"),
    Ok(
        "import torch.distributed as dist\n\n\nclass TestOps:\n    def test_op(self, x):\n"
        '        with self.assertRaisesRegex(ValueError, "Invalid"):\n            dist.P2POp(dist.broadcast, x, 1)\n',
        "a test that wants the error",
    ),
    Ok("class P2POp:\n    def __init__(self, op): ...\n\n\nP2POp(len)\n", "a class of one's own"),
)
