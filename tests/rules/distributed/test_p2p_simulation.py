"""The simulator against every interleaving, and against the table of patterns that was worked out for this project."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from exchange_patterns import (
    Pattern,
    Written,
    across_a_collective,
    all_to_all_receives_first,
    batched_ring,
    chain_receives_first,
    chain_sends_first,
    gather,
    halo_sends_first,
    parity_ring,
    ring_isend_recv,
    ring_receives_first,
    ring_sends_first,
    swap_receives_first,
    swap_sends_first,
    written,
)
from exhaustive import tried
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlift.rules.distributed.p2p.engines.simulation import Engine, simulate
from torchlift.rules.distributed.p2p.program import Exchange, Operation, Post, RankProgram, Wait

# An independent model: a state is what every rank has posted, finished and waited for; one step at a time is taken, in
# every order there is.

State = tuple[tuple[int, ...], frozenset[tuple[int, int, int]], tuple[tuple[tuple[int, int], int], ...]]


class AllOrders:
    def __init__(self, exchange: Exchange, engine: Engine) -> None:
        self.exchange = exchange
        self.engine = engine
        self.size = len(exchange.programs)

    def terminal_states(self) -> Iterator[State]:
        first: State = ((0,) * self.size, frozenset(), ())
        seen, stack = {first}, [first]
        while stack:
            state = stack.pop()
            following = list(self.steps(state))
            if not following:
                yield state
            for other in following:
                if other not in seen:
                    seen.add(other)
                    stack.append(other)

    def finished(self, state: State) -> bool:
        places, done, _ = state
        return all(
            place == len(program)
            and all(
                (rank, index, number) in done
                for index, step in enumerate(program)
                if isinstance(step, Post)
                for number in range(len(step.operations))
            )
            for rank, (place, program) in enumerate(zip(places, self.exchange.programs, strict=True))
        )

    def communicator(self, rank: int, post: Post) -> tuple[object, ...]:
        operation = post.operations[0]
        if self.engine is Engine.LAZY and not post.batched and operation.kind != "collective":
            return (operation.group, *sorted({rank, operation.peer}))
        return (operation.group,)

    def runnable(self, state: State, rank: int) -> Iterator[tuple[int, int]]:
        """Operations of `rank` at the head of their communicator, of which the first for each side counts."""
        places, done, _ = state
        busy = set()
        for index, step in enumerate(self.exchange.programs[rank][: places[rank]]):
            if isinstance(step, Wait):
                continue
            where = self.communicator(rank, step)
            left = [n for n in range(len(step.operations)) if (rank, index, n) not in done]
            if where in busy or not left:
                continue
            busy.add(where)
            sides = set()
            for number in left:
                operation = step.operations[number]
                if (operation.kind, operation.peer) not in sides:
                    sides.add((operation.kind, operation.peer))
                    yield index, number

    def operation(self, rank: int, index: int, number: int) -> Operation:
        post = self.exchange.programs[rank][index]
        assert isinstance(post, Post)
        return post.operations[number]

    def steps(self, state: State) -> Iterator[State]:
        places, done, buffer = state
        counts = dict(buffer)
        ready = [list(self.runnable(state, rank)) for rank in range(self.size)]
        for rank, program in enumerate(self.exchange.programs):
            if places[rank] < len(program):
                step = program[places[rank]]
                if isinstance(step, Post) or self.complete(program, rank, step.handle, done):
                    moved = (*places[:rank], places[rank] + 1, *places[rank + 1 :])
                    yield moved, done, buffer
            for index, number in ready[rank]:
                operation = self.operation(rank, index, number)
                here = (rank, index, number)
                post = program[index]
                assert isinstance(post, Post)
                key = (rank, operation.peer)
                if operation.kind == "collective":
                    yield from self.collective(state, rank, operation, ready)
                elif self.engine is Engine.BUFFERED and operation.kind == "send":
                    more = counts | {key: counts.get(key, 0) + 1}
                    yield places, done | {here}, tuple(sorted(more.items()))
                elif self.engine is Engine.BUFFERED:
                    if counts.get(key[::-1], 0):
                        fewer = counts | {key[::-1]: counts[key[::-1]] - 1}
                        yield places, done | {here}, tuple(sorted((k, n) for k, n in fewer.items() if n))
                elif operation.kind == "send" and 0 <= operation.peer < self.size:
                    for there in ready[operation.peer]:
                        other = self.operation(operation.peer, *there)
                        other_post = self.exchange.programs[operation.peer][there[0]]
                        assert isinstance(other_post, Post)
                        if (other.kind, other.peer, other.group) == ("recv", rank, operation.group) and (
                            self.communicator(rank, post) == self.communicator(operation.peer, other_post)
                        ):
                            yield places, done | {here, (operation.peer, *there)}, buffer

    def complete(self, program: RankProgram, rank: int, handle: int, done: frozenset[tuple[int, int, int]]) -> bool:
        return all(
            (rank, index, number) in done
            for index, step in enumerate(program)
            if isinstance(step, Post) and step.handle == handle
            for number in range(len(step.operations))
        )

    def collective(
        self, state: State, rank: int, operation: Operation, ready: list[list[tuple[int, int]]]
    ) -> Iterator[State]:
        members = self.exchange.groups[operation.group]
        if rank != members[0]:
            return
        taking_part = set()
        for member in members:
            for place in ready[member]:
                other = self.operation(member, *place)
                if other.kind == "collective" and other.group == operation.group:
                    taking_part.add((member, *place))
        if len(taking_part) == len(members):
            yield state[0], state[1] | taking_part, state[2]


OK, HANGS = "ok", "DEADLOCK"
TABLE: list[tuple[Pattern, range, str, str, str]] = [
    (ring_sends_first, range(3, 9), OK, OK, HANGS),
    (ring_isend_recv, range(3, 9), OK, OK, HANGS),
    (ring_receives_first, range(3, 9), OK, HANGS, HANGS),
    (across_a_collective, range(2, 9), OK, OK, HANGS),
    (parity_ring, range(4, 9, 2), OK, OK, OK),
    (parity_ring, range(3, 9, 2), OK, OK, OK),
    (chain_sends_first, range(2, 9), OK, OK, OK),
    (chain_receives_first, range(2, 9), OK, OK, OK),
    (gather, range(2, 9), OK, OK, OK),
    (swap_sends_first, range(2, 9), HANGS, OK, HANGS),
    (halo_sends_first, range(2, 9), HANGS, OK, HANGS),
    (swap_receives_first, range(2, 9), HANGS, HANGS, HANGS),
    (all_to_all_receives_first, range(2, 9), HANGS, HANGS, HANGS),
    (batched_ring, range(2, 9), OK, OK, OK),
]


@pytest.mark.parametrize(("pattern", "sizes", "lazy", "buffered", "single"), TABLE)
def test_the_table_of_patterns_is_reproduced(
    pattern: Pattern, sizes: range, lazy: str, buffered: str, single: str
) -> None:
    for size in sizes:
        exchange = written(pattern, size)
        found = [
            OK if simulate(exchange, engine).done else HANGS for engine in (Engine.LAZY, Engine.BUFFERED, Engine.SINGLE)
        ]
        assert found == [lazy, buffered, single], f"{size} ranks"


def test_serialised_messages_take_more_rounds_on_one_communicator() -> None:
    chain = written(chain_sends_first, 6)
    assert simulate(chain, Engine.LAZY).rounds == 1
    assert simulate(chain, Engine.SINGLE).rounds == 5


def test_a_hang_names_what_each_rank_waits_for() -> None:
    stuck = simulate(written(ring_sends_first, 3), Engine.SINGLE).blocked
    assert [blocked.rank for blocked in stuck] == [0, 1, 2]
    assert [[(o.kind, o.peer) for o in blocked.running] for blocked in stuck] == [
        [("send", 1)],
        [("send", 2)],
        [("send", 0)],
    ]
    assert [[(o.kind, o.peer) for o in blocked.behind] for blocked in stuck] == [
        [("recv", 2)],
        [("recv", 0)],
        [("recv", 1)],
    ]


def test_one_batched_side_and_one_unbatched_side_meet_on_one_communicator_only() -> None:
    def half(ops: Written, rank: int, size: int) -> None:
        if rank == 0:
            ops.batch(("send", 1))
        elif rank == 1:
            ops.recv(0)

    exchange = written(half, 2)
    assert not simulate(exchange, Engine.LAZY).done
    assert simulate(exchange, Engine.SINGLE).done


@st.composite
def exchanges(draw: st.DrawFn) -> Exchange:
    """Messages in some global order, each side put somewhere into its rank's program, so that many of them can end."""
    size = draw(st.integers(2, 4))
    programs = [Written() for _ in range(size)]
    pending: list[list[int]] = [[] for _ in range(size)]
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["message", "message", "message", "reversed", "collective", "batch", "lonely"]))
        first, second = draw(st.permutations(range(size)))[:2]
        if kind == "collective":
            for ops in programs:
                ops.all_reduce()
        elif kind == "batch":
            for rank in range(size):
                made = [("send", (rank + 1) % size), ("recv", (rank - 1) % size)]
                programs[rank].batch(*draw(st.permutations(made)))
        else:
            sides = [("send", first, second), ("recv", second, first)]
            for side, rank, peer in reversed(sides) if kind == "reversed" else sides[: 1 if kind == "lonely" else 2]:
                handle = programs[rank].isend(peer) if side == "send" else programs[rank].irecv(peer)
                if draw(st.booleans()):
                    programs[rank].wait(handle)
                else:
                    pending[rank].append(handle)
        for rank in range(size):
            if pending[rank] and draw(st.integers(0, 3)) == 0:
                programs[rank].wait(pending[rank].pop(draw(st.integers(0, len(pending[rank]) - 1))))
    for rank in range(size):
        if draw(st.booleans()):
            programs[rank].wait(*pending[rank])
    return Exchange(tuple(tuple(ops.steps) for ops in programs), {"": tuple(range(size))})


@given(exchange=exchanges(), engine=st.sampled_from(Engine))
@settings(max_examples=tried(120, 400))
def test_one_schedule_says_what_every_interleaving_says(exchange: Exchange, engine: Engine) -> None:
    orders = AllOrders(exchange, engine)
    ends = {orders.finished(state) for state in orders.terminal_states()}
    assert ends == {simulate(exchange, engine).done}


@given(exchange=exchanges())
@settings(max_examples=tried(60, 200))
def test_what_ends_with_rendezvous_also_ends_with_buffers(exchange: Exchange) -> None:
    if simulate(exchange, Engine.SINGLE).done:
        assert simulate(exchange, Engine.BUFFERED).done
