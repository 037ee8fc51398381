"""Private helpers of torch.distributed that projects copy to make groups beside the default one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.groups.backends import BACKENDS, backend_of, may_use_nccl
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use


@dataclass(frozen=True)
class _Helper:
    """What happened to one private function.

    Attributes:
        fact: what breaks since when.
        advice: what to do.
        needs_nccl: whether it matters to NCCL groups only.
        since: release where it breaks.
    """

    fact: str
    advice: str
    since: TorchVersion
    needs_nccl: bool = False


_V214, _V215 = TorchVersion(2, 14), TorchVersion(2, 15)
_HELPERS = {
    "_new_process_group_helper": _Helper(
        "`_new_process_group_helper` splits the new group from the default group's communicator when both have the same "
        'backend and the default one is bound to a device. Since torch 2.15 every "nccl" group is, so a group with ranks of '
        "another job (weight transfer to an inference engine) waits for ever in the split.",
        "In torch 2.15 a group whose backend is named differently is not split: pass \"nccl-legacy\" or \"nccl-lazy\" (2.14+) "
        f"as its backend. Groups of this job's own ranks belong to `new_group`. {ESCAPE}",
        _V215,
        needs_nccl=True,
    ),
    "_get_split_source": _Helper(
        "`_get_split_source` has a second required parameter, `requested_backend`, since torch 2.15.",
        "Call `new_group` or `split_group`, which find the group to split from themselves.",
        _V215,
    ),
    "_is_safe_to_split": _Helper(
        "`_is_safe_to_split` does not exist any more in torch 2.15.",
        "Ask the group instead: `group.bound_device_id is not None` tells whether it was created eagerly, which is what the "
        "function looked at.",
        _V215,
    ),
    "_update_process_group_global_state": _Helper(
        "`_update_process_group_global_state` does not exist in torch 2.13-2.15.",
        "Create the group with `new_group` or `split_group`, which register it.",
        TorchVersion(2, 13),
    ),
    "_new_group_via_split_group": _Helper(
        "`_new_group_via_split_group` does not exist any more in torch 2.14.",
        "Call `new_group` or `split_group`.",
        _V214,
    ),
}  # fmt: skip
_TARGETS = {f"torch.distributed.{name}": helper for name, helper in _HELPERS.items()}

RULE = Rule(
    code="TL234",
    name="private-process-group-helper",
    summary="A private helper of torch.distributed that hangs, changed or is gone",
    why=(
        "Projects that connect a trainer to an inference engine copied `init_process_group` and call "
        "`_new_process_group_helper` themselves. With a default group bound to a device, which every NCCL group is since "
        "torch 2.15, the helper splits the new group from it and hangs: the other side is no part of the default group. The "
        "helper's signature grew `enable_reconfigure` in 2.14, `_get_split_source` takes `requested_backend` since 2.15, and "
        "`_is_safe_to_split` is gone."
    ),
    fix="Manual: which group the code wants is not visible from the call. The message says what avoids the split.",
    targets=tuple(sorted(_TARGETS)),
    severity=Severity.ERROR,
    collectors=(BACKENDS,),
    sources=(
        "torch/distributed/distributed_c10d.py of 2.13.0, 2.14.1 and 2.15.0 compared (lines 2790-3024 of 2.15.0)",
        "https://github.com/NVIDIA-NeMo/RL/issues/3189 and https://github.com/allenai/open-instruct/issues/1311 (the hang)",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    helper = _TARGETS[use.target]
    if use.kind == "string" or helper.since > context.settings.target:
        return
    if isinstance(use.node, ast.alias):
        if _has_other_uses(view, use):
            return
    elif helper.needs_nccl and use.call is not None and backend_of(view, _backend(use.call)) == "other":
        return
    if helper.needs_nccl and not may_use_nccl(context.project):
        return
    severity = Severity.WARNING if use.kind in {"store", "delete"} else Severity.ERROR
    yield Finding("TL234", view.path, view.span(use.node), helper.fact, severity, helper.advice)


def _has_other_uses(view: ModuleView, use: Use) -> bool:
    """Whether an imported helper is used in the same file, where it is reported."""
    binding = use.resolution.binding if use.resolution is not None else None
    return binding is not None and bool(view.reads_of(binding))


def _backend(call: ast.Call) -> ast.expr:
    """The backend a call passes; something unknown where it cannot be told."""
    for keyword in call.keywords:
        if keyword.arg == "backend":
            return keyword.value
    return call.args[3] if len(call.args) > 3 else call.func


EXAMPLES = (
    Bad(
        "from torch.distributed.distributed_c10d import _new_process_group_helper\n\n\ndef connect(world, rank, store):\n"
        '    group, _ = _new_process_group_helper(world, rank, [], "nccl", store, group_name="weights")\n'
        "    return group\n",
        why="a group across two jobs",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef connect(world, rank, store, backend):\n"
        "    return dist.distributed_c10d._new_process_group_helper(\n        world, rank, [], backend, store\n    )[0]\n",
        why="through the module",
    ),
    Bad(
        "from torch.distributed import distributed_c10d as c10d\n\n\ndef parent(group):\n"
        "    return c10d._get_split_source(group) if c10d._is_safe_to_split() else None\n",
        why="the other helpers",
    ),
    Bad("from torch.distributed.distributed_c10d import _update_process_group_global_state\n", why="imported only"),
    Ok(
        "from torch.distributed.distributed_c10d import _new_process_group_helper\n\n\ndef side(world, rank, store):\n"
        '    return _new_process_group_helper(world, rank, [], "gloo", store, "side")\n',
        "a gloo group is not split",
    ),
    Ok(
        "import torch.distributed as dist\nfrom torch.distributed.distributed_c10d import _new_process_group_helper\n\n"
        'dist.init_process_group("gloo")\n\n\ndef side(world, rank, store, backend):\n'
        '    return _new_process_group_helper(world, rank, [], backend, store, "side")\n',
        "a gloo project",
    ),
    Ok(
        "def _new_process_group_helper(world, rank):\n    return world, rank\n\n\n_new_process_group_helper(2, 0)\n",
        "own function",
    ),
    Ok(
        "class Transport:\n    def _get_split_source(self): ...\n\n    def start(self):\n"
        "        return self._get_split_source()\n",
        "own method",
    ),
    Ok(
        "try:\n    from torch.distributed.distributed_c10d import _is_safe_to_split\nexcept ImportError:\n"
        "    _is_safe_to_split = None\n",
        "guarded import",
    ),
)
