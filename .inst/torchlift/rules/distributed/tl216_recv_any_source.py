"""Receiving from whichever rank sends first, which NCCL does not have."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.distributed.groups.backends import BACKENDS, is_nccl_only
from torchlift.rules.distributed.groups.group_identity import group_key
from torchlift.rules.distributed.p2p.calls import RECV_PARAMETERS, is_given
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL216",
    name="recv-any-source",
    summary="`recv` or `irecv` without a source on NCCL",
    why=(
        "`recv` and `irecv` without `src` (and `group_src`) take a message from whichever rank sends first. Gloo and MPI can; "
        'NCCL has no such operation, neither in its old engine nor in the one that `"nccl"` means since torch 2.15, and '
        'fails with "does not support recvAnysource".'
    ),
    fix=(
        "Not offered: who sends is for you to say. Reported only in projects whose default group surely has NCCL alone, and "
        "for calls on that group."
    ),
    targets=("torch.distributed.recv", "torch.distributed.irecv"),
    triggers=("recv & distributed", "irecv & distributed"),
    applies=is_nccl_only,
    severity=Severity.ERROR,
    collectors=(BACKENDS,),
    sources=(
        'strings of the torch 2.10-2.15 binaries ("does not support recvAnysource"), read 2026-11-21',
        "measured on gloo with torch 2.13.0 and 2.15.0: works",
    ),
)

_MESSAGE = (
    '`{name}` without a source receives from any rank, which NCCL cannot: it fails with "does not support recvAnysource" '
    'on the old engine and on the one that `"nccl"` means since torch 2.15.'
)
_ADVICE = (
    "Name the sender: `dist.{name}(tensor, src=rank_of_the_sender)`. If the order of arrival is what matters, receive on a "
    'second group for the CPU: `cpu = dist.new_group(backend="gloo")` on every rank, then '
    "`dist.{name}(tensor.cpu(), group=cpu)`."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    if use.call is None or use.kind != "call" or not is_nccl_only(context.project):
        return
    arguments = named_arguments(use.call, RECV_PARAMETERS)
    if arguments is None or "tensor" not in arguments or is_given(arguments, "src", "group_src"):
        return
    if group_key(context.view, arguments.get("group")):
        return  # another group may have another backend
    name = use.target.rpartition(".")[2]
    span = context.view.span(use.node)
    yield Finding(
        "TL216", context.view.path, span, _MESSAGE.format(name=name), Severity.ERROR, _ADVICE.format(name=name)
    )


_INIT = 'import torch\nimport torch.distributed as dist\n\ndist.init_process_group("nccl")\n'

EXAMPLES = (
    Bad(_INIT + "dist.recv(torch.zeros(1).cuda())\n", why="blocking"),
    Bad(
        _INIT + "handle = dist.irecv(torch.zeros(1).cuda(), src=None, group=None)\nhandle.wait()\n",
        why="asynchronous, with None for the source",
    ),
    Bad(
        "from torch.distributed import init_process_group, recv\n\n\ndef collect(buffer):\n    recv(buffer)\n\n\n"
        'init_process_group(backend="nccl")\n',
        why="names imported one by one",
    ),
    Bad(
        "import torch\n\n\ndef collect(buffer):\n    return torch.distributed.distributed_c10d.irecv(tensor=buffer)\n",
        why="the group is made in another file",
        files=(("start.py", 'import torch.distributed as dist\n\ndist.init_process_group("cuda:nccl")\n'),),
    ),
    Ok(_INIT + "dist.recv(torch.zeros(1).cuda(), 0)\n", "a source by position"),
    Ok(_INIT + "dist.recv(torch.zeros(1).cuda(), group_src=1)\n", "a source within the group"),
    Ok(_INIT + 'cpu = dist.new_group(backend="gloo")\ndist.recv(torch.zeros(1), group=cpu)\n', "a group of its own"),
    Ok(_INIT.replace('"nccl"', '"gloo"') + "dist.recv(torch.zeros(1))\n", "gloo"),
    Ok(_INIT.replace('"nccl"', '"cpu:gloo,cuda:nccl"') + "dist.recv(torch.zeros(1))\n", "gloo for CPU tensors"),
    Ok("import torch.distributed as dist\n\n\ndef f(x):\n    dist.recv(x)\n", "a backend nobody knows"),
    Ok("import socket\n\nimport torch.distributed\n\n\ndef f(s: socket.socket):\n    s.recv(10)\n", "a socket"),
    Ok(
        "from mpi4py import MPI\n\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\n"
        "MPI.COMM_WORLD.recv()\n",
        "mpi4py",
    ),
    Ok(_INIT + "\n\ndef f(x, **where):\n    dist.recv(x, **where)\n", "a source that may be among open keywords"),
)
