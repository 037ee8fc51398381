"""Examples of exchanges that hang since torch 2.15, and of those that do not."""

from __future__ import annotations

from torchlift.rules.rule import Bad, Ok

_RING = """\
import torch
import torch.distributed as dist


def shift(x):
    rank, world = dist.get_rank(), dist.get_world_size()
    received = torch.empty_like(x)
"""
_START = 'dist.init_process_group("gloo")\n'
_RUN = _START + "result = shift(torch.arange(3.0) + 10 * dist.get_rank())\n"

_FROM = """\
from torch.distributed import irecv as receive
from torch.distributed import isend
import torch.distributed as dist
import torch


def shift(x: torch.Tensor) -> torch.Tensor:
    world = dist.get_world_size()
    rank = dist.get_rank()
    received = torch.zeros_like(x)
"""

_CLASS = """\
import torch
import torch.distributed


class Ring:
    def __init__(self):
        self.rank = torch.distributed.get_rank()
        self.world = torch.distributed.get_world_size()
        self.following = (self.rank + 1) % self.world
        self.preceding = (self.rank - 1) % self.world

    def shift(self, x):
        received = torch.empty_like(x)
"""

EXAMPLES: tuple[Bad | Ok, ...] = (
    Bad(
        _RING + "    sending = dist.isend(x, (rank + 1) % world)\n"
        "    receiving = dist.irecv(received, (rank - 1) % world)\n    sending.wait()\n    receiving.wait()\n"
        "    return received\n",
        _RING + "    sending = dist.P2POp(dist.isend, x, (rank + 1) % world)\n"
        "    receiving = dist.P2POp(dist.irecv, received, (rank - 1) % world)\n"
        "    for req in dist.batch_isend_irecv([sending, receiving]):\n        req.wait()\n    return received\n",
        why="a ring in which every rank sends first",
        run=_RUN,
        ranks=(2, 3, 4),
    ),
    Bad(
        _FROM + "    from_left = receive(received, src=(rank - 1) % world)\n"
        "    to_right = isend(x, dst=(rank + 1) % world)\n    from_left.wait()\n    to_right.wait()\n    return received\n",
        _FROM + "    from_left = dist.P2POp(receive, received, peer=(rank - 1) % world)\n"
        "    to_right = dist.P2POp(isend, x, peer=(rank + 1) % world)\n"
        "    for req in dist.batch_isend_irecv([from_left, to_right]):\n        req.wait()\n    return received\n",
        why="a ring in which every rank receives first, names imported one by one",
        run=_RUN,
        ranks=(2, 3, 4),
    ),
    Bad(
        _RING + "    request = dist.isend(x, (rank + 1) % world)\n    dist.recv(received, (rank - 1) % world)\n"
        "    request.wait()\n    return received\n",
        _RING + "    request = dist.P2POp(dist.isend, x, (rank + 1) % world)\n"
        "    receiving = dist.P2POp(dist.irecv, received, (rank - 1) % world)\n"
        "    for req in dist.batch_isend_irecv([request, receiving]):\n        req.wait()\n    return received\n",
        why="a blocking receive after an unfinished send",
        run=_RUN,
        ranks=(2, 3, 4),
    ),
    Bad(
        _CLASS + "        a = torch.distributed.isend(x, self.following)\n"
        "        b = torch.distributed.irecv(received, self.preceding)\n        a.wait()\n        b.wait()\n"
        "        return received\n",
        _CLASS + "        a = torch.distributed.P2POp(torch.distributed.isend, x, self.following)\n"
        "        b = torch.distributed.P2POp(torch.distributed.irecv, received, self.preceding)\n"
        "        for req in torch.distributed.batch_isend_irecv([a, b]):\n            req.wait()\n        return received\n",
        why="neighbours worked out in the constructor",
        run='torch.distributed.init_process_group("gloo")\nresult = Ring().shift(torch.ones(2) * torch.distributed.get_rank())\n',
        ranks=(2, 3, 4),
    ),
    Bad(
        "import torch\nimport torch.distributed as dist\n\n\ndef start(x, received, rank, world):\n"
        "    return [dist.isend(x, (rank + 1) % world), dist.irecv(received, (rank - 1) % world)]\n\n\n"
        "def shift(x):\n    received = torch.empty_like(x)\n"
        "    requests = start(x, received, dist.get_rank(), dist.get_world_size())\n    for request in requests:\n"
        "        request.wait()\n    return received\n",
        why="the ring is posted in a helper",
    ),
    Ok(
        _RING + "    if rank % 2 == 0:\n        dist.isend(x, (rank + 1) % world).wait()\n"
        "        dist.irecv(received, (rank - 1) % world).wait()\n    else:\n"
        "        dist.irecv(received, (rank - 1) % world).wait()\n        dist.isend(x, (rank + 1) % world).wait()\n"
        "    return received\n",
        "even ranks send first, odd ranks receive first",
    ),
    Ok(
        _RING + "    requests = []\n    if rank < world - 1:\n        requests.append(dist.isend(x, rank + 1))\n"
        "    if rank > 0:\n        requests.append(dist.irecv(received, rank - 1))\n    for request in requests:\n"
        "        request.wait()\n    return received\n",
        "a chain has an end",
    ),
    Ok(
        _RING + "    if rank == 0:\n        parts = [torch.empty_like(x) for _ in range(world - 1)]\n"
        "        requests = [dist.irecv(part, src) for src, part in enumerate(parts, 1)]\n"
        "        for request in requests:\n            request.wait()\n    else:\n        dist.isend(x, 0).wait()\n",
        "everyone sends to one",
    ),
    Ok(
        _RING + "    ops = [dist.P2POp(dist.isend, x, (rank + 1) % world)]\n"
        "    ops.append(dist.P2POp(dist.irecv, received, (rank - 1) % world))\n"
        "    for request in dist.batch_isend_irecv(ops):\n        request.wait()\n    return received\n",
        "a batch",
    ),
    Ok(
        _RING + "    sending = dist.isend(x, (rank + 1) % world)\n"
        "    receiving = dist.irecv(received, (rank - 1) % world)\n    sending.wait()\n    receiving.wait()\n"
        '\n\ndist.init_process_group("gloo")\n',
        "a project on gloo",
    ),
    Ok(
        "from mpi4py import MPI\n\ncomm = MPI.COMM_WORLD\n\n\ndef shift(x):  # torch.distributed.isend would hang\n"
        "    rank, world = comm.Get_rank(), comm.Get_size()\n    sending = comm.isend(x, (rank + 1) % world)\n"
        "    receiving = comm.irecv(source=(rank - 1) % world)\n    sending.wait()\n    return receiving.wait()\n",
        "MPI's own functions",
    ),
    Ok(
        _RING
        + "    count = torch.zeros(1)\n    total = torch.zeros(1)\n    sending = dist.isend(count, (rank + 1) % world)\n"
        "    receiving = dist.irecv(total, (rank - 1) % world)\n    sending.wait()\n    receiving.wait()\n"
        '    return total\n\n\ndist.init_process_group("cpu:gloo,cuda:nccl")\n',
        "tensors on the CPU, which are gloo's",
    ),
    Ok(
        _RING + "    sending = dist.isend(x, (rank + 1) % world)\n"
        "    receiving = dist.irecv(received, (rank - 1) % world)\n    sending.wait()\n    receiving.wait()\n"
        '    return received\n\n\ndef start(backend):\n    dist.init_process_group(backend)\n\n\nstart("gloo")\n',
        "a function of the project makes the group, on gloo",
    ),
    Ok(
        "import torch.distributed\n\n\ndef shift(x, received, dist):\n    rank, world = dist.get_rank(), dist.get_world_size()\n"
        "    sending = dist.isend(x, (rank + 1) % world)\n    receiving = dist.irecv(received, (rank - 1) % world)\n"
        "    sending.wait()\n    receiving.wait()\n",
        "`dist` is a parameter",
    ),
)
