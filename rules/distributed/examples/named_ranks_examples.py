"""Examples of exchanges that hang where names such as `next_rank` mean what they say, and of those that do not."""

from __future__ import annotations

from torchlift.rules.rule import Bad, Ok

_HEAD = "import torch\nimport torch.distributed as dist\n\n\n"
_RUN = (
    'dist.init_process_group("gloo")\nrank, world = dist.get_rank(), dist.get_world_size()\n'
    "x = torch.arange(3.0) + 10 * rank\n"
)
_FOLLOWING = "(rank + 1) % world, (rank - 1) % world"

_RING_OF_SETTINGS = (
    _HEAD + "class Ring:\n    def __init__(self, args, group):\n        self.send_to = args.send_to\n"
    "        self.recv_from = args.recv_from\n        self.group = group\n\n    def shift(self, x, received):\n"
)
_LIST_OF_RANKS = (
    "import torch\nimport torch.distributed as dist\nfrom mylib import get_rank, get_world_size\n\n\n"
    "def shift(x, received, ranks):\n    me = get_rank()\n"
)

EXAMPLES: tuple[Bad | Ok, ...] = (
    Bad(
        _HEAD + "def shift(x, next_rank, prev_rank):\n    received = torch.empty_like(x)\n"
        "    sending = dist.isend(x, next_rank)\n    receiving = dist.irecv(received, prev_rank)\n    sending.wait()\n"
        "    receiving.wait()\n    return received\n",
        _HEAD + "def shift(x, next_rank, prev_rank):\n    received = torch.empty_like(x)\n"
        "    sending = dist.P2POp(dist.isend, x, next_rank)\n    receiving = dist.P2POp(dist.irecv, received, prev_rank)\n"
        "    for req in dist.batch_isend_irecv([sending, receiving]):\n        req.wait()\n    return received\n",
        safety="unsafe",
        why="a ring, if its parameters are what they are called",
        run=f"{_RUN}result = shift(x, {_FOLLOWING})\n",
        ranks=(2, 3),
    ),
    Bad(
        _RING_OF_SETTINGS + "        works = [dist.isend(x, self.send_to, group=self.group)]\n"
        "        works.append(dist.irecv(received, self.recv_from, group=self.group))\n"
        "        for work in works:\n            work.wait()\n",
        _RING_OF_SETTINGS + "        works = [dist.P2POp(dist.isend, x, self.send_to, group=self.group)]\n"
        "        works.append(dist.P2POp(dist.irecv, received, self.recv_from, group=self.group))\n"
        "        for work in dist.batch_isend_irecv(works):\n            work.wait()\n",
        safety="unsafe",
        why="settings of an object, on a group that it is given",
    ),
    Bad(
        _LIST_OF_RANKS + "    a = dist.isend(x, ranks[(me + 1) % get_world_size()])\n"
        "    b = dist.irecv(received, ranks[(me - 1) % get_world_size()])\n    a.wait()\n    b.wait()\n",
        _LIST_OF_RANKS + "    a = dist.P2POp(dist.isend, x, ranks[(me + 1) % get_world_size()])\n"
        "    b = dist.P2POp(dist.irecv, received, ranks[(me - 1) % get_world_size()])\n"
        "    for req in dist.batch_isend_irecv([a, b]):\n        req.wait()\n",
        safety="unsafe",
        why="a list of ranks, and functions of another module",
    ),
    Ok(
        _HEAD + "def forward(x, received, next_rank, prev_rank):\n    if prev_rank is not None:\n"
        "        dist.recv(received, prev_rank)\n    if next_rank is not None:\n        work = dist.isend(x, next_rank)\n"
        "        work.wait()\n",
        "a line of ranks: the last has no next one",
    ),
    Ok(
        _HEAD + "def exchange(stage, x, received):\n    works = []\n    if not stage.is_last:\n"
        "        works.append(dist.isend(x, stage.next_rank))\n    if not stage.is_first:\n"
        "        works.append(dist.irecv(received, stage.prev_rank))\n    for work in works:\n        work.wait()\n",
        "the stages of a pipeline",
    ),
    Ok(
        _HEAD + "def gather(x, parts, rank, world_size, root, group):\n    works = []\n    if rank == root:\n"
        "        for other in range(world_size):\n            if other != rank:\n"
        "                works.append(dist.irecv(parts[other], other, group=group))\n    else:\n"
        "        works.append(dist.isend(x, root, group=group))\n    return works\n",
        "all send to the root",
    ),
)
