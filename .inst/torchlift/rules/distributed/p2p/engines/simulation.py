"""Runs an exchange of known operations on a model of NCCL and says whether it ends, how long it takes, or where it hangs.

Three machines, which differ in what an operation queues behind and in when a send is done:

- `LAZY`, the engine up to torch 2.14 without `device_id`: a communicator for every pair of ranks carries the unbatched
  point-to-point operations of the pair, another one everything else of the group;
- `SINGLE`, the engine behind `"nccl"` since torch 2.15: one communicator and one stream for all of a group;
- `BUFFERED`, the same with messages so small that a send does not need its receiver.

In each, a queue runs its posts one after the other, and a message needs its send and its receive to run at the same time,
in the same communicator. Nothing depends on timing, so one schedule stands for all of them
(`tests/rules/distributed/test_p2p_simulation.py` compares with every interleaving).
Source: the headers and strings of the torch 2.10-2.15 wheels, ncclGroupStart/End in NVIDIA's NCCL documentation, read
2026-11-21; no GPU was at hand to watch a hang.
"""

from __future__ import annotations

from collections import Counter, deque
from enum import Enum

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.distributed.p2p.program import Exchange, Operation, Post, Wait


class Engine(Enum):
    """How a process group runs what it is given."""

    LAZY = "lazy"
    SINGLE = "single"
    BUFFERED = "buffered"


@dataclass(frozen=True, slots=True)
class Blocked:
    """Why one rank does not get on.

    Attributes:
        rank: the rank.
        running: the operations at the head of a queue that wait for their other side.
        behind: what stands behind them in the same queue.
        line: line of the wait the rank stands in; None if it has run to the end of the function.
    """

    rank: int
    running: tuple[Operation, ...]
    behind: tuple[Operation, ...]
    line: int | None


@dataclass(frozen=True, slots=True)
class ExchangeOutcome:
    """How an exchange ends.

    Attributes:
        rounds: messages one after the other on the longest path, if every message takes the same time.
        blocked: the ranks that hang, by rank; empty if everything is done.
    """

    rounds: int
    blocked: tuple[Blocked, ...] = ()

    @property
    def done(self) -> bool:
        """Whether every operation of every rank has been carried out."""
        return not self.blocked


Queue = tuple[str, frozenset[int]]
"""A communicator as one rank sees it: the group, and the pair if it is one of a pair."""


class _Running:
    """A post in its queue, with the operations that are not done yet."""

    __slots__ = ("left", "post")

    def __init__(self, post: Post) -> None:
        self.post = post
        self.left = list(post.operations)


class _Rank:
    def __init__(self, number: int, exchange: Exchange, engine: Engine) -> None:
        self.number = number
        self.program = exchange.programs[number]
        self.engine = engine
        self.at = 0
        self.queues: dict[Queue, deque[_Running]] = {}
        self.open: set[int] = set()

    def advance(self) -> bool:
        """Post and wait as far as nothing has to be waited for; whether anything happened."""
        started = self.at
        while self.at < len(self.program):
            step = self.program[self.at]
            if isinstance(step, Wait):
                if step.handle in self.open:
                    break
            else:
                self.queues.setdefault(self._queue(step), deque()).append(_Running(step))
                self.open.add(step.handle)
            self.at += 1
        return self.at != started

    def _queue(self, post: Post) -> Queue:
        first = post.operations[0]
        if self.engine is Engine.LAZY and not post.batched and first.kind != "collective":
            return first.group, frozenset({self.number, first.peer})
        return first.group, frozenset()

    def heads(self) -> dict[Queue, _Running]:
        return {key: queue[0] for key, queue in self.queues.items() if queue}

    def drop_finished(self) -> None:
        for queue in self.queues.values():
            while queue and not queue[0].left:
                self.open.discard(queue.popleft().post.handle)

    def blocked(self) -> Blocked | None:
        waiting = [queue for queue in self.queues.values() if queue]
        if not waiting and self.at == len(self.program):
            return None
        step = self.program[self.at] if self.at < len(self.program) else None
        chosen = next(
            (q for q in waiting if isinstance(step, Wait) and any(r.post.handle == step.handle for r in q)), None
        )
        queue = chosen or (waiting[0] if waiting else deque())
        behind = tuple(operation for running in list(queue)[1:] for operation in running.left)
        line = step.line if isinstance(step, Wait) else None
        return Blocked(self.number, tuple(queue[0].left) if queue else (), behind, line)


def simulate(exchange: Exchange, engine: Engine) -> ExchangeOutcome:
    """Run `exchange` to its end, or until nothing can happen any more."""
    ranks = [_Rank(number, exchange, engine) for number in range(len(exchange.programs))]
    messages: Counter[tuple[int, int, str]] = Counter()
    rounds = 0
    while True:
        while any(rank.advance() for rank in ranks):
            if engine is Engine.BUFFERED:
                _send_at_once(ranks, messages)
        matched = _matches(ranks, exchange, messages if engine is Engine.BUFFERED else None)
        if not matched:
            break
        for running, operation in matched:
            running.left.remove(operation)
        rounds += 1
        for rank in ranks:
            rank.drop_finished()
        if engine is Engine.BUFFERED:
            _send_at_once(ranks, messages)
    return ExchangeOutcome(rounds, tuple(blocked for rank in ranks if (blocked := rank.blocked()) is not None))


def _send_at_once(ranks: list[_Rank], messages: Counter[tuple[int, int, str]]) -> None:
    again = True
    while again:
        again = False
        for rank in ranks:
            for running in rank.heads().values():
                sends = [operation for operation in running.left if operation.kind == "send"]
                for operation in sends:
                    messages[rank.number, operation.peer, operation.group] += 1
                    running.left.remove(operation)
                    again = True
            rank.drop_finished()


def _matches(
    ranks: list[_Rank], exchange: Exchange, messages: Counter[tuple[int, int, str]] | None
) -> list[tuple[_Running, Operation]]:
    """Operations that can be carried out now, each with the post it belongs to."""
    heads = [rank.heads() for rank in ranks]
    matched: list[tuple[_Running, Operation]] = []
    for number, queues in enumerate(heads):
        for key, running in queues.items():
            for operation in running.left:
                if operation.kind == "recv" and messages is not None:
                    message = (operation.peer, number, operation.group)
                    if messages[message]:
                        messages[message] -= 1
                        matched.append((running, operation))
                elif operation.kind == "send" and messages is None:
                    other = heads[operation.peer].get(key) if 0 <= operation.peer < len(heads) else None
                    if other is not None and operation is _first(running, "send", operation):
                        wanted = Operation("recv", operation.group, 0, number)
                        receive = _first(other, "recv", wanted)
                        if receive is not None:
                            matched += [(running, operation), (other, receive)]
        matched += _collectives(number, queues, heads, exchange)
    return matched


def _first(running: _Running, kind: str, like: Operation) -> Operation | None:
    """The first operation of `kind` with the group and the peer of `like` that is still to be done."""
    for operation in running.left:
        if operation.kind == kind and operation.peer == like.peer and operation.group == like.group:
            return operation
    return None


def _collectives(
    number: int, queues: dict[Queue, _Running], heads: list[dict[Queue, _Running]], exchange: Exchange
) -> list[tuple[_Running, Operation]]:
    """Collectives that every member has reached; found once, by the first member."""
    matched: list[tuple[_Running, Operation]] = []
    for key in queues:
        members = exchange.groups.get(key[0], ())
        if not members or number != min(members) or key[1]:
            continue
        there = [heads[member].get(key) for member in members]
        found = [_first(one, "collective", Operation("collective", key[0], 0)) if one else None for one in there]
        if all(operation is not None for operation in found):
            matched += [(one, operation) for one, operation in zip(there, found, strict=True) if one and operation]
    return matched
