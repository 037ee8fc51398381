"""A tensor on the CPU in a collective of a group that has NCCL only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.facts.cpu_tensors import DEFAULT_DEVICES, made_on_cpu
from torchlift.rules.distributed.groups.backends import BACKENDS, is_nccl_only
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.view import Use

# Collectives whose first argument is a tensor.
_COLLECTIVES = tuple(
    f"torch.distributed.{name}"
    for name in (
        "all_reduce", "broadcast", "reduce", "send", "recv", "isend", "irecv", "all_gather_into_tensor",
        "reduce_scatter_tensor", "all_to_all_single",
    )
)  # fmt: skip

RULE = Rule(
    code="TL240",
    name="cpu-tensor-on-nccl-group",
    summary="A CPU tensor in a collective of an NCCL-only group",
    why=(
        'A default group made with `init_process_group("nccl")` serves CUDA tensors only. A collective with a CPU tensor '
        'raises "No backend type associated with device type cpu", before and after torch 2.15.'
    ),
    fix="Manual: the tensor may belong on the GPU, or the group may need gloo for CPU tensors.",
    targets=_COLLECTIVES,
    applies=is_nccl_only,
    severity=Severity.ERROR,
    triggers=tuple(f"{target.rpartition('.')[2]} & torch.distributed" for target in _COLLECTIVES)
    + tuple(f"{target.rpartition('.')[2]} & from torch import distributed" for target in _COLLECTIVES),
    sources=("torch/distributed/distributed_c10d.py of 2.13.0-2.15.0, BackendConfig and ProcessGroup::getBackend",),
)

_MESSAGE = (
    "`{name}` is made on the CPU (line {line}), and the default group of this project has NCCL only: "
    '"No backend type associated with device type cpu".'
)
_ADVICE = (
    'Make it on the device of this rank (`device=torch.device("cuda", local_rank)`), or give the default group a CPU backend '
    'as well: `init_process_group("cpu:gloo,cuda:nccl", ...)`.'
)


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    grouped = any(keyword.arg in {None, "group"} for keyword in call.keywords)
    return 1 <= len(call.args) <= 2 and not grouped


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call, project = context.view, use.call, context.project
    if call is None or not matters(use.target, call, context.settings) or not is_nccl_only(project):
        return
    tensor = call.args[0]
    made = made_on_cpu(view, project, tensor)
    if made is None:
        return
    text = view.text(tensor) if len(view.text(tensor)) <= 40 else "the tensor"
    message = _MESSAGE.format(name=text, line=made.lineno)
    yield Finding("TL240", view.path, view.span(use.node), message, Severity.ERROR, _ADVICE)


COLLECTORS = (BACKENDS, DEFAULT_DEVICES)

_NCCL = 'import torch\nimport torch.distributed as dist\n\ndist.init_process_group("nccl")\n'

EXAMPLES = (
    Bad(_NCCL + "count = torch.zeros(1)\ndist.all_reduce(count)\n", why="a name"),
    Bad(
        "import torch\nfrom torch.distributed import broadcast as share\n\n\ndef agree(value):\n"
        "    share(torch.tensor([value]), 0)\n",
        why="made on the spot, group created in another file",
        files=(("train.py", _NCCL),),
    ),
    Bad(
        "import torch\nfrom torch.distributed import distributed_c10d as c10d\n\nc10d.init_process_group('nccl')\n\n\n"
        'def total(n):\n    t = torch.full((1,), n, device="cpu")\n    c10d.all_reduce(t)\n    return t\n',
        why="device named cpu, private module",
    ),
    Ok(_NCCL + 'count = torch.zeros(1, device="cuda")\ndist.all_reduce(count)\n', "made on the GPU"),
    Ok(_NCCL + "count = torch.zeros(1)\ncount = count.cuda()\ndist.all_reduce(count)\n", "moved to the GPU"),
    Ok(
        _NCCL + "torch.set_default_device('cuda')\ncount = torch.zeros(1)\ndist.all_reduce(count)\n",
        "default device",
    ),
    Ok(_NCCL + "with torch.device('cuda'):\n    count = torch.zeros(1)\ndist.all_reduce(count)\n", "device context"),
    Ok(
        'import torch\nimport torch.distributed as dist\n\ndist.init_process_group("gloo")\n'
        "count = torch.zeros(1)\ndist.all_reduce(count)\n",
        "a gloo project",
    ),
    Ok(
        _NCCL + 'side = dist.new_group(backend="gloo")\ncount = torch.zeros(1)\ndist.all_reduce(count, group=side)\n',
        "a group of its own",
    ),
    Ok("import torch\nimport socket as dist\n\nt = torch.zeros(1)\ndist.send(t)\n", "sockets"),
)
