"""`monitored_barrier` on a default group that has NCCL only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.groups.backends import BACKENDS, is_nccl_only
from torchlift.rules.distributed.groups.group_identity import is_default_group
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL239",
    name="monitored-barrier-on-nccl",
    summary="`monitored_barrier` on the NCCL default group",
    why=(
        "`monitored_barrier` is made of sends and receives of CPU tensors. Up to torch 2.13 it asked for a group named "
        '"gloo"; since 2.14 for any group with a CPU backend, so that "cpu:gloo,cuda:nccl" is enough. On a group that is '
        "NCCL only it raises ValueError."
    ),
    fix="Manual: the gloo group has to be made once, on every rank, at a place the program chooses.",
    targets=("torch.distributed.monitored_barrier",),
    severity=Severity.ERROR,
    collectors=(BACKENDS,),
    sources=(
        "torch/distributed/distributed_c10d.py of 2.13.0, 2.14.1 and 2.15.0 (lines 6671-6685), monitored_barrier",
    ),
)

_MESSAGE = (
    "`monitored_barrier` needs a group with a backend for CPU tensors, and the default group of this project is NCCL only: "
    'ValueError "requires a group with a CPU-capable backend" since torch 2.14, "only implemented for GLOO backend" before.'
)
_ADVICE = (
    'Make a gloo group once, on every rank, and pass it: `cpu_group = dist.new_group(backend="gloo")`, '
    "`dist.monitored_barrier(group=cpu_group)`."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or use.kind != "call" or any(keyword.arg is None for keyword in call.keywords):
        return
    group = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "group"), None)
    if isinstance(group, ast.Starred) or not is_default_group(view, group) or not is_nccl_only(context.project):
        return
    yield Finding("TL239", view.path, view.span(use.node), _MESSAGE, Severity.ERROR, _ADVICE)


_NCCL = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'

EXAMPLES = (
    Bad(_NCCL + "dist.monitored_barrier()\n", why="no group"),
    Bad(
        "from torch.distributed import group as groups, init_process_group, monitored_barrier as check\n\n"
        'init_process_group(backend="cuda:nccl")\ncheck(groups.WORLD, wait_all_ranks=True)\n',
        why="the default group by name, another import",
    ),
    Bad(
        "from torch.distributed import distributed_c10d as c10d\n\n\ndef meet():\n    c10d.monitored_barrier(timeout=None)\n",
        why="created in another file",
        files=(("train.py", _NCCL),),
    ),
    Ok(_NCCL + 'side = dist.new_group(backend="gloo")\ndist.monitored_barrier(group=side)\n', "a gloo group"),
    Ok(
        'import torch.distributed as dist\n\ndist.init_process_group("cpu:gloo,cuda:nccl")\ndist.monitored_barrier()\n',
        "a default group with gloo for CPU tensors",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef setup(backend):\n    dist.init_process_group(backend)\n"
        "    dist.monitored_barrier()\n",
        "the backend is a parameter",
    ),
    Ok("import deepspeed.comm.ccl as dist\n\ndist.monitored_barrier()\n", "another library"),
)
