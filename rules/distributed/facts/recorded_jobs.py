"""What recorded runs did with process groups: backend, devices, ranks, and who sent to whom in which order.

Information only: a run shows one order on one backend, and says nothing about other world sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchlift.rules.rule import Context
from torchlift.view import Use

if TYPE_CHECKING:
    from torchlift.evidence.records import RecordedJob, RecordedTransfer

_SENDS = frozenset({"send", "isend"})
_RECEIVES = frozenset({"recv", "irecv"})
_BATCH = "batch_isend_irecv"
_SHOWN = 4


def recorded_group(use: Use, context: Context) -> tuple[str, ...]:
    """A sentence for each kind of job that recorded runs initialised at `use`."""
    runs, view = context.settings.evidence, context.view
    if runs is None:
        return ()
    line, column = view.source.location(view.span(use.call or use.node).start)
    here = f"{view.path}:{line}:{column}"
    return tuple(f"In a recorded run: {_shown(job)}." for job in runs.jobs if job.site == here)


def recorded_exchange(use: Use, context: Context) -> tuple[str, ...]:
    """What recorded runs sent and received in the function around `use`, and whether one queue per rank would do."""
    runs, view = context.settings.evidence, context.view
    function = view.function_of(use.node)
    if runs is None or function is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ()
    last = function.end_lineno or function.lineno
    inside = {f"{view.path}:{line}" for line in range(function.lineno, last + 1)}
    found = []
    for job in runs.jobs:
        seen = [one for one in job.sequence if one.site is not None and one.site.rpartition(":")[0] in inside]
        if seen:
            found.append(f"In a recorded run, {_shown(job)}: {_orders(seen)}. {_queue(job)}")
    return tuple(found)


def _shown(job: RecordedJob) -> str:
    on = f" on {job.device}" if job.device else ""
    return f"{job.backend or 'an unknown backend'} with {job.world} ranks{on}"


def _orders(seen: Sequence[RecordedTransfer]) -> str:
    ranks: dict[int, list[str]] = {}
    for one in seen:
        if one.api in _SENDS | _RECEIVES:
            way = "to" if one.api in _SENDS else "from"
            peer = one.peer if one.peer is not None else "anyone"
            ranks.setdefault(one.rank, []).append(f"{one.api} {way} {peer}")
    cut = [
        f"rank {rank} {', '.join(words[:_SHOWN])}{', ...' if len(words) > _SHOWN else ''}"
        for rank, words in sorted(ranks.items())
    ]
    return "; ".join(cut[:_SHOWN]) + ("; ..." if len(cut) > _SHOWN else "")


def _queue(job: RecordedJob) -> str:
    """Whether the whole sequence ends where all messages of a rank wait in one queue."""
    if job.cut:
        return "The end of it was not recorded."
    left = _left_in_queues(job.sequence)
    if not left:
        return "In that order every message meets its peer also where each rank has one queue."
    rank, head = next(iter(left.items()))
    return f"In that order it would not end where each rank has one queue: rank {rank} waits at its {head.api} ({head.site})."


def _left_in_queues(sequence: Sequence[RecordedTransfer]) -> dict[int, RecordedTransfer]:
    """The first message of each rank that never meets its peer."""
    waiting = _steps(sequence)
    while _meet(waiting):
        pass
    return {rank: steps[0][0] for rank, steps in sorted(waiting.items()) if steps}


def _steps(sequence: Sequence[RecordedTransfer]) -> dict[int, list[list[RecordedTransfer]]]:
    """What each rank posts, one after the other; a batch is one step."""
    ranks: dict[int, list[list[RecordedTransfer]]] = {}
    batches: dict[int, str | None] = {}
    for one in sequence:
        steps = ranks.setdefault(one.rank, [])
        if one.api == _BATCH:
            steps.append([])
            batches[one.rank] = one.site
        elif one.api in _SENDS | _RECEIVES and steps and batches.get(one.rank) == one.site is not None:
            steps[-1].append(one)
        else:
            batches[one.rank] = None
            if one.api in _SENDS | _RECEIVES:
                steps.append([one])
    return {rank: [step for step in steps if step] for rank, steps in ranks.items()}


def _meet(waiting: dict[int, list[list[RecordedTransfer]]]) -> bool:
    """Take one pair out of the heads of two queues; False if none meets."""
    for rank, one in _heads(waiting):
        if one.api in _SENDS and one.peer in waiting and waiting[one.peer]:
            for other in waiting[one.peer][0]:
                if other.api in _RECEIVES and other.peer in {rank, None} and other.group == one.group:
                    _take(waiting, rank, one)
                    _take(waiting, one.peer, other)
                    return True
    return False


def _heads(waiting: dict[int, list[list[RecordedTransfer]]]) -> Iterator[tuple[int, RecordedTransfer]]:
    return ((rank, one) for rank, steps in waiting.items() if steps for one in steps[0])


def _take(waiting: dict[int, list[list[RecordedTransfer]]], rank: int, one: RecordedTransfer) -> None:
    waiting[rank][0] = [other for other in waiting[rank][0] if other is not one]
    if not waiting[rank][0]:
        del waiting[rank][0]
