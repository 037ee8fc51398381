"""Runs a program as several ranks at the same time, and puts together what they leave."""

from __future__ import annotations

import tempfile

from torchlift.testing.nodes import Container, Raised, short
from torchlift.testing.processes import Ending, FreshProcesses, Piece
from torchlift.testing.program_job import ProgramResult, ProgramTask
from torchlift.testing.rank_job import RankTask, ended_at

_RANK = "torchlift.testing.rank_job:run_rank_task"
_HOST = "torchlift.testing.rank_job:host_ranks"
# How long the others may go on once a rank has failed: those on gloo learn it from the closed connection at once.
_GRACE = 3.0
_ORDER = ("crashed", "done", "timed out", "stopped")


def run_ranks(
    program: ProgramTask, ranks: int, *, folder: str, timeout: float, processes: FreshProcesses
) -> ProgramResult:
    """The results of all ranks: a container with the parts `[rank 0 of 2]`, `[rank 1 of 2]`, ...

    The part of a rank that failed, crashed, did not end in time or had to be stopped is `Raised`; `trace` then has what
    each of these ranks said.

    Args:
        program: what every rank runs.
        ranks: how many.
        folder: the working directory that they share.
        timeout: seconds until all are killed.
        processes: where they run.
    """
    if ranks < 1:
        raise ValueError(f"A program cannot run on {ranks} ranks.")
    with tempfile.TemporaryDirectory(prefix="torchlift-") as meeting:
        tasks = [RankTask(program, rank, ranks, meeting) for rank in range(ranks)]
        pieces = [*(Piece(_RANK, task) for task in tasks), Piece(_HOST, tasks[0])]
        endings = processes.run_together(pieces, folder=folder, timeout=timeout, grace=_GRACE)[:ranks]
        ended = [ended_at(task) for task in tasks]
    results = [_result(ending, timeout) for ending in endings]
    names = [f"rank {rank} of {ranks}" for rank in range(ranks)]
    # The first that failed comes first: the others often fail because it is gone.
    order = sorted(range(ranks), key=lambda rank: (_ORDER.index(endings[rank].how), ended[rank], rank))
    said = [_said(names[rank], results[rank]) for rank in order if isinstance(results[rank].result, Raised)]
    parts = tuple((f"[{name}]", result.result) for name, result in zip(names, results, strict=True))
    return ProgramResult(Container("ranks", parts), "\n\n".join(said))


def failed_ranks(result: ProgramResult) -> bool:
    """Whether a rank of the result of `run_ranks` has no result of its own."""
    return isinstance(result.result, Container) and any(isinstance(part, Raised) for _, part in result.result.items)


def _result(ending: Ending, timeout: float) -> ProgramResult:
    for record in ending.records:
        if isinstance(record, ProgramResult):
            return record
    if ending.how == "stopped":
        return ProgramResult(
            Raised("Stopped", "this rank went on after another had failed, and was stopped"), ending.output
        )
    how = f"crashed ({ending.reason})" if ending.how == "crashed" else f"did not end within {timeout:g} seconds"
    return ProgramResult(Raised("Crash", f"the program {how}"), ending.output)


def _said(name: str, result: ProgramResult) -> str:
    return f"{name}: {short(result.result)}\n{result.trace}".rstrip()
