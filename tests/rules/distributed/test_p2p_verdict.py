from __future__ import annotations

import ast

import pytest
from exchange_patterns import (
    Pattern,
    Written,
    across_a_collective,
    batched_ring,
    chain_sends_first,
    halo_sends_first,
    ring_receives_first,
    ring_sends_first,
    swap_sends_first,
    written,
)

from torchlift.rules.distributed.p2p.engines.explanation import rank_by_rank
from torchlift.rules.distributed.p2p.engines.verdict import ExchangeVerdict, Judgement, judge
from torchlift.rules.distributed.p2p.interpreter.messages import _peer_text


def judged(pattern: Pattern) -> Judgement:
    judgement = judge({size: written(pattern, size) for size in range(2, 9)})
    assert judgement is not None
    return judgement


def test_a_ring_hangs_from_three_ranks_on_and_small_messages_hide_it() -> None:
    ring = judged(ring_sends_first)
    assert (ring.verdict, ring.sizes, ring.small_messages_pass) == (ExchangeVerdict.HANGS_NOW, (3, 4, 5, 6, 7, 8), True)
    assert not judged(ring_receives_first).small_messages_pass


def test_a_swap_hung_before() -> None:
    assert judged(swap_sends_first).verdict is ExchangeVerdict.HUNG_BEFORE
    assert judged(halo_sends_first).verdict is ExchangeVerdict.HUNG_BEFORE


def test_a_chain_is_serialised_and_a_batch_is_not() -> None:
    assert (judged(chain_sends_first).verdict, judged(chain_sends_first).sizes) == (
        ExchangeVerdict.SERIALISED,
        tuple(range(3, 9)),
    )
    assert judged(batched_ring).verdict is ExchangeVerdict.FINE


def test_half_an_exchange_is_not_judged() -> None:
    def only_sends(ops: Written, rank: int, size: int) -> None:
        ops.isend((rank + 1) % size)

    def collective_of_some(ops: Written, rank: int, size: int) -> None:
        if rank:
            ops.all_reduce()

    assert judged(only_sends).verdict is ExchangeVerdict.OPEN
    assert judged(collective_of_some).verdict is ExchangeVerdict.OPEN
    assert judge({}) is None


def test_a_hang_is_told_rank_by_rank_with_the_circle_of_waiting() -> None:
    ring = judged(ring_sends_first)
    assert rank_by_rank(ring.now, 3) == (
        "with 3 ranks, rank 0: `isend` to rank 1 (line 0) cannot finish; `irecv` from rank 2 (line 1) stands behind in the "
        "same queue; the rank waits in line 2",
        "with 3 ranks, rank 1: `isend` to rank 2 (line 0) cannot finish; `irecv` from rank 0 (line 1) stands behind in the "
        "same queue; the rank waits in line 2",
        "with 3 ranks, rank 2: `isend` to rank 0 (line 0) cannot finish; `irecv` from rank 1 (line 1) stands behind in the "
        "same queue; the rank waits in line 2",
        "so 0 waits for 1, 1 waits for 2, 2 waits for 0",
    )


def test_many_ranks_are_not_all_told() -> None:
    eight = judge({8: written(ring_sends_first, 8)})
    assert eight is not None
    assert rank_by_rank(eight.now, 8)[4] == "and so on for 4 more ranks"


def test_a_collective_in_front_of_a_message_is_named() -> None:
    told = rank_by_rank(judged(across_a_collective).now, 2)
    assert any("`collective`" in line and "stands behind" in line for line in told)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("dist.send(x, rank + 1)", "rank + 1"),
        ("dist.send(x, dst=after)", "after"),
        ("dist.send(x, group_dst=1)", "1"),
        ("dist.send(x)", "dst"),
    ],
)
def test_the_other_rank_is_told_as_the_call_writes_it(call: str, told: str) -> None:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call) and _peer_text(node, "dst", "group_dst") == told
