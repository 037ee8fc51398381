"""A side group for CPU tensors written `cpu:gloo`: it lacks the device that the NCCL default group is bound to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.rules.distributed.groups.backends import BACKENDS, backend_text, may_use_nccl, surely_uses_nccl
from torchlift.rules.distributed.groups.group_identity import new_group_arguments
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL233",
    name="side-group-lacks-bound-device",
    summary='`new_group(backend="cpu:gloo")` beside an NCCL default group',
    why=(
        "A new group takes over the device that the default group is bound to and asks its own backends for that device. "
        'Named `"cpu:gloo"` it has none for CUDA and raises "No backend type associated with device type cuda". Up to torch '
        "2.14 only a default group with `device_id` was bound; since 2.15 every NCCL group is."
    ),
    fix=(
        'Safe: `"gloo"` is the same backend for CPU tensors and also answers for the bound device. Needs review when the '
        "project asks `get_backend`, which then names the group differently."
    ),
    targets=("torch.distributed.new_group",),
    severity=Severity.ERROR,
    triggers=("new_group & cpu:",),
    collectors=(BACKENDS,),
    sources=(
        "torch/distributed/distributed_c10d.py of 2.15.0, _new_process_group_helper (lines 3204-3206)",
        "Measured on torch 2.15.0 with the devices swapped",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call, project = context.view, use.call, context.project
    arguments = new_group_arguments(call) if call is not None and use.kind == "call" else None
    backend = (arguments or {}).get("backend")
    text = backend_text(view, backend)
    if backend is None or text is None or not _is_for_cpu_only(text) or not may_use_nccl(project):
        return
    sure = surely_uses_nccl(project)
    message = (
        f'`new_group(backend="{text}")` takes over the device that an NCCL default group is bound to, always since torch '
        '2.15, and has no backend for it: "RuntimeError: No backend type associated with device type cuda".'
    )
    if not sure:
        message = message.replace(
            "an NCCL default group is bound to", "the default group is bound to where that is NCCL"
        )
    severity = Severity.ERROR if sure else Severity.WARNING
    span = view.span(use.node)
    name = text.partition(":")[2]
    if not isinstance(backend, ast.Constant) or text != "cpu:gloo":
        advice = f'Name the backend without a device, `backend="{name}"`: such a group serves every device.'
        yield Finding("TL233", view.path, span, message, severity, advice)
        return
    asks = project.files_holding("get_backend", "_device_types")
    help_text = None
    if asks:
        help_text = (
            f'Needs review: `get_backend` of this group says "gloo" then and not "cpu:gloo", and it serves CUDA as well; '
            f"a group is asked for that in {asks[0]}."
        )
    fix = Fix(
        'Name the backend "gloo"',
        Safety.UNSAFE if asks else Safety.SAFE,
        (ReplaceExpression(view.span(backend), Template('"gloo"')),),
    )
    yield Finding("TL233", view.path, span, message, severity, help_text, fix)


def _is_for_cpu_only(backend: str) -> bool:
    parts = [part.strip().lower() for part in backend.split(",")]
    return all(part.startswith("cpu:") for part in parts)


_NCCL = (("train.py", 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'),)
_SUM = (
    "\n\ndef total(group):\n    value = torch.arange(3.0) + dist.get_rank()\n    dist.all_reduce(value, group=group)\n"
    "    return value\n"
)

EXAMPLES = (
    Bad(
        "import torch\nimport torch.distributed as dist\n\n\ndef side(ranks):\n"
        '    return dist.new_group(ranks, backend="cpu:gloo")\n' + _SUM,
        "import torch\nimport torch.distributed as dist\n\n\ndef side(ranks):\n"
        '    return dist.new_group(ranks, backend="gloo")\n' + _SUM,
        why="by keyword",
        files=_NCCL,
        run='dist.init_process_group("gloo")\nresult = total(side(list(range(dist.get_world_size()))))',
        ranks=(2, 3, 4),
    ),
    Bad(
        "import torch\nimport torch.distributed as dist\nfrom torch.distributed.distributed_c10d import new_group as make\n\n"
        "side = None\n\n\ndef build():\n    return make(None, None, 'cpu:gloo')  # CPU tensors\n" + _SUM,
        "import torch\nimport torch.distributed as dist\nfrom torch.distributed.distributed_c10d import new_group as make\n\n"
        'side = None\n\n\ndef build():\n    return make(None, None, "gloo")  # CPU tensors\n' + _SUM,
        why="by position, another name",
        files=_NCCL,
        run='dist.init_process_group("gloo")\nresult = total(build())',
        ranks=(2, 3, 4),
    ),
    Bad(
        'import torch.distributed as dist\n\ndist.init_process_group("nccl")\nside = dist.new_group(backend="cpu:gloo")\n'
        "print(dist.get_backend(side))\n",
        'import torch.distributed as dist\n\ndist.init_process_group("nccl")\nside = dist.new_group(backend="gloo")\n'
        "print(dist.get_backend(side))\n",
        safety="unsafe",
        why="the backend's name is asked for",
    ),
    Bad(
        'import torch.distributed as dist\n\nBACKEND = "cpu:gloo"\n\n\ndef side():\n'
        "    return dist.new_group(backend=BACKEND)\n",
        why="a constant with a name of its own, in a library",
    ),
    Ok(
        'import torch.distributed as dist\n\ndist.init_process_group("gloo")\nside = dist.new_group(backend="cpu:gloo")\n',
        "a gloo project",
    ),
    Ok(
        'import torch.distributed as dist\n\ndist.init_process_group("nccl")\nside = dist.new_group(backend="gloo")\n',
        "the bare name",
    ),
    Ok(
        'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
        'side = dist.new_group(backend="cpu:gloo,cuda:nccl")\n',
        "has both devices",
    ),
    Ok('import h5py as dist\n\nside = dist.new_group(backend="cpu:gloo")\n', "another library"),
    Ok('"""Use `dist.new_group(backend="cpu:gloo")`."""\nimport torch.distributed as dist\n', "in a docstring"),
)
