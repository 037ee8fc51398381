"""A hang told rank by rank."""

from __future__ import annotations

import itertools

from torchlift.rules.distributed.p2p.engines.simulation import Blocked, ExchangeOutcome
from torchlift.rules.distributed.p2p.program import Operation

_MOST_RANKS = 4


def rank_by_rank(outcome: ExchangeOutcome, size: int) -> tuple[str, ...]:
    """What each rank does when nothing happens any more, one sentence a rank, and who waits for whom.

    Args:
        outcome: an outcome that is not done.
        size: number of ranks.
    """
    lines = [f"with {size} ranks, rank {blocked.rank}: {_state(blocked)}" for blocked in outcome.blocked[:_MOST_RANKS]]
    if len(outcome.blocked) > _MOST_RANKS:
        lines.append(f"and so on for {len(outcome.blocked) - _MOST_RANKS} more ranks")
    circle = _circle(outcome.blocked)
    if circle:
        lines.append("so " + ", ".join(f"{one} waits for {other}" for one, other in itertools.pairwise(circle)))
    return tuple(lines)


def operation_words(operation: Operation) -> str:
    """`isend` to rank 1 (line 7)."""
    name = operation.name or operation.kind
    side = {"send": f" to rank {operation.peer}", "recv": f" from rank {operation.peer}", "collective": ""}
    return f"`{name}`{side[operation.kind]} (line {operation.line})"


def _state(blocked: Blocked) -> str:
    if not blocked.running:
        return f"waits in line {blocked.line}"
    text = " and ".join(operation_words(operation) for operation in blocked.running[:3]) + " cannot finish"
    if blocked.behind:
        stand = "stand" if len(blocked.behind) > 1 else "stands"
        text += f"; {', '.join(operation_words(o) for o in blocked.behind[:3])} {stand} behind in the same queue"
    if blocked.line is not None and blocked.line not in {operation.line for operation in blocked.running}:
        text += f"; the rank waits in line {blocked.line}"
    return text


def _circle(blocked: tuple[Blocked, ...]) -> list[int]:
    """Ranks of which each waits for the next, the first one again at the end; empty if there is no such circle."""
    waits = {
        one.rank: next((o.peer for o in one.running if o.kind != "collective" and o.peer != one.rank), None)
        for one in blocked
    }
    for start in waits:
        path: list[int] = []
        rank: int | None = start
        while rank is not None and rank in waits and rank not in path:
            path.append(rank)
            rank = waits[rank]
        if rank is not None and rank == start and len(path) > 1:
            return [*path, start]
    return []
