"""`new_group(use_local_synchronization=True)` on an NCCL group that is a split of the default group's communicator."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.values.literals import is_none
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS, backend_of, may_use_nccl, surely_uses_nccl
from torchlift.rules.distributed.groups.group_identity import is_local, new_group_arguments
from torchlift.rules.distributed.ranks.own_rank import own_rank
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL231",
    name="new-group-local-synchronization-on-nccl",
    summary="Local synchronisation on a group that NCCL splits from the world",
    why=(
        "`new_group(use_local_synchronization=True)` lets ranks that are no members go on at once. Since torch 2.15 the "
        'default "nccl" group is always bound to a device, and a group of the same backend is an `ncclCommSplit` that every '
        "rank of the world has to call: the members wait for ranks that never come. The check that skips non-members stands "
        "in front of the split and nothing guards it. Groups that together hold every rank should be fine; this was read in "
        "the source and not reproduced on hardware."
    ),
    fix=(
        "Manual: whether the groups made by one call hold every rank is a question of the whole program. On gloo it is fine "
        "and not reported. Since torch 2.15 only a group with the same backend as the default group is split from it."
    ),
    since=NEW_ENGINE,
    targets=("torch.distributed.new_group",),
    triggers=("use_local_synchronization",),
    collectors=(BACKENDS,),
    sources=(
        "torch/distributed/distributed_c10d.py of 2.15.0: _new_group_with_tag (line 7206), _get_split_source (line 2790)",
        "https://github.com/pytorch/pytorch/pull/192276 (new_group splits the communicator)",
    ),
)

_MESSAGE = (
    'Since torch 2.15 a group of the default group\'s "nccl" is split from the communicator of all ranks, and every one of '
    "them has to take part. With `use_local_synchronization=True` ranks that are no members return before the split, so the "
    "members may wait for them for ever, unless the groups made here together hold every rank."
)
_ADVICE = (
    "Drop `use_local_synchronization=True` and create every group on every rank, in the same order. Where only the members "
    'may call, pass another backend than the default group\'s, such as backend="nccl-legacy" (2.14+): such a group is not '
    f"split from it. {ESCAPE}"
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call, project = context.view, use.call, context.project
    arguments = new_group_arguments(call) if call is not None and use.kind == "call" else None
    if arguments is None or not is_local(arguments):
        return
    if _holds_every_rank(view, arguments.get("ranks")):
        return
    backend = backend_of(view, arguments.get("backend"))
    sure = surely_uses_nccl(project)
    if backend == "other" or not may_use_nccl(project) or (backend == "unknown" and not sure):
        return
    surely = backend != "unknown" and (sure or backend == "nccl")
    severity = Severity.WARNING if surely else Severity.INFO
    yield Finding("TL231", view.path, view.span(use.node), _MESSAGE, severity, _ADVICE)


def _holds_every_rank(view: ModuleView, ranks: ast.expr | None) -> bool:
    """Whether the groups made here hold all ranks: one of the size of the world, or one for each rank alone."""
    if ranks is None or is_none(ranks):
        return True
    if isinstance(ranks, ast.Name):
        ranks = assigned_value(view, ranks) or ranks
    if isinstance(ranks, ast.List) and len(ranks.elts) == 1:
        # Every rank makes a group of its own.
        alone = ranks.elts[0]
        return bool(own_rank(view, alone, "proven")) or view.text(alone).rpartition(".")[2].strip("_") in {
            "rank",
            "global_rank",
        }
    if isinstance(ranks, ast.Call) and isinstance(ranks.func, ast.Name) and ranks.func.id in {"list", "range"}:
        argument = ranks.args[0] if len(ranks.args) == 1 else ranks
        return "world_size" in view.text(argument).lower() and argument is not ranks
    return False


_NCCL = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'

EXAMPLES = (
    Bad(_NCCL + "group = dist.new_group([0, 1], use_local_synchronization=True)\n", why="NCCL default"),
    Bad(
        "from torch.distributed import new_group as make_group\n\n\ndef build(ranks):\n"
        "    return make_group(ranks, None, None, None, True)\n",
        why="a library that creates no default group, by position",
    ),
    Bad(
        "from torch.distributed import distributed_c10d as c10d\n\n\ndef build(ranks):\n"
        '    return c10d.new_group(ranks, backend="nccl", use_local_synchronization=True)\n',
        why="the backend is named here",
    ),
    Ok(
        'import torch.distributed as dist\n\ndist.init_process_group("gloo")\n'
        "group = dist.new_group([0, 1], use_local_synchronization=True)\n",
        "a gloo project",
    ),
    Ok(_NCCL + 'group = dist.new_group([0, 1], backend="gloo", use_local_synchronization=True)\n', "a gloo group"),
    Ok(
        _NCCL + 'group = dist.new_group([0], backend="nccl-legacy", use_local_synchronization=True)\n',
        "another backend is not split from the default group",
    ),
    Ok(_NCCL + "group = dist.new_group([0, 1], use_local_synchronization=False)\n", "switched off"),
    Ok(
        _NCCL
        + "WORLD_SIZE = dist.get_world_size()\ngroup = dist.new_group(list(range(WORLD_SIZE)), use_local_synchronization=True)\n",
        "every rank is a member",
    ),
    Ok(
        _NCCL + "alone = dist.new_group([dist.get_rank()], use_local_synchronization=True)\n",
        "every rank makes a group of its own",
    ),
    Ok(
        "class dist:\n    @staticmethod\n    def new_group(ranks, use_local_synchronization): ...\n\n\n"
        "dist.new_group([0], use_local_synchronization=True)\n",
        "own class",
    ),
)
