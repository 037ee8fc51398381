"""Exchanges written down call by call, for any number of ranks."""

from __future__ import annotations

from collections.abc import Callable

from torchlift.rules.distributed.p2p.program import Exchange, Operation, Post, Wait


class Written:
    """One rank's program, written down call by call."""

    def __init__(self) -> None:
        self.steps: list[Post | Wait] = []

    def post(self, *operations: Operation, batched: bool = False) -> int:
        handle = len(self.steps)
        self.steps.append(Post(operations, handle, batched))
        return handle

    def isend(self, peer: int) -> int:
        return self.post(Operation("send", "", len(self.steps), peer, "isend"))

    def irecv(self, peer: int) -> int:
        return self.post(Operation("recv", "", len(self.steps), peer, "irecv"))

    def wait(self, *handles: int) -> None:
        self.steps += (Wait(handle, len(self.steps)) for handle in handles)

    def send(self, peer: int) -> None:
        self.wait(self.isend(peer))

    def recv(self, peer: int) -> None:
        self.wait(self.irecv(peer))

    def all_reduce(self) -> None:
        self.wait(self.post(Operation("collective", "", len(self.steps))))

    def batch(self, *operations: tuple[str, int]) -> None:
        made = (Operation("send" if kind == "send" else "recv", "", len(self.steps), peer) for kind, peer in operations)
        self.wait(self.post(*made, batched=True))


Pattern = Callable[[Written, int, int], None]


def written(pattern: Pattern, size: int) -> Exchange:
    programs = []
    for rank in range(size):
        ops = Written()
        pattern(ops, rank, size)
        programs.append(tuple(ops.steps))
    return Exchange(tuple(programs), {"": tuple(range(size))})


def ring_sends_first(ops: Written, rank: int, size: int) -> None:
    ops.wait(ops.isend((rank + 1) % size), ops.irecv((rank - 1) % size))


def ring_receives_first(ops: Written, rank: int, size: int) -> None:
    ops.wait(ops.irecv((rank - 1) % size), ops.isend((rank + 1) % size))


def ring_isend_recv(ops: Written, rank: int, size: int) -> None:
    sent = ops.isend((rank + 1) % size)
    ops.recv((rank - 1) % size)
    ops.wait(sent)


def across_a_collective(ops: Written, rank: int, size: int) -> None:
    if rank == 0:
        sent = ops.isend(1)
        ops.all_reduce()
        ops.wait(sent)
    else:
        ops.all_reduce()
        if rank == 1:
            ops.recv(0)


def parity_ring(ops: Written, rank: int, size: int) -> None:
    if rank % 2 == 0:
        ops.wait(ops.isend((rank + 1) % size), ops.irecv((rank - 1) % size))
    else:
        ops.wait(ops.irecv((rank - 1) % size), ops.isend((rank + 1) % size))


def chain_sends_first(ops: Written, rank: int, size: int) -> None:
    handles = []
    if rank < size - 1:
        handles.append(ops.isend(rank + 1))
    if rank > 0:
        handles.append(ops.irecv(rank - 1))
    ops.wait(*handles)


def chain_receives_first(ops: Written, rank: int, size: int) -> None:
    handles = []
    if rank > 0:
        handles.append(ops.irecv(rank - 1))
    if rank < size - 1:
        handles.append(ops.isend(rank + 1))
    ops.wait(*handles)


def gather(ops: Written, rank: int, size: int) -> None:
    if rank:
        ops.wait(ops.isend(0))
    else:
        ops.wait(*[ops.irecv(other) for other in range(1, size)])


def swap_sends_first(ops: Written, rank: int, size: int) -> None:
    other = rank ^ 1
    if other < size:
        ops.wait(ops.isend(other), ops.irecv(other))


def swap_receives_first(ops: Written, rank: int, size: int) -> None:
    other = rank ^ 1
    if other < size:
        ops.wait(ops.irecv(other), ops.isend(other))


def halo_sends_first(ops: Written, rank: int, size: int) -> None:
    neighbours = [other for other in (rank - 1, rank + 1) if 0 <= other < size]
    ops.wait(*[ops.isend(other) for other in neighbours], *[ops.irecv(other) for other in neighbours])


def all_to_all_receives_first(ops: Written, rank: int, size: int) -> None:
    others = [other for other in range(size) if other != rank]
    ops.wait(*[ops.irecv(other) for other in others], *[ops.isend(other) for other in others])


def batched_ring(ops: Written, rank: int, size: int) -> None:
    ops.batch(("send", (rank + 1) % size), ("recv", (rank - 1) % size))
