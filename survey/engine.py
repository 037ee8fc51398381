"""Who looks at many repositories: processes of this machine, or a cluster of dask."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from torchlift.survey.child import ChildLimits, answer
from torchlift.survey.record import Surveyed

Questions = Sequence[Mapping[str, Any]]
Answers = Iterator[tuple[str, Surveyed | None]]
"""Folder by folder, as they come: what is known of it, None if nothing has changed."""
Engine = Callable[[Questions, ChildLimits], Answers]

_IN_HAND = 4
"""Repositories that each thread of a cluster is given at a time."""
_LOOK_AGAIN = 15.0
_PATIENCE = 120.0
"""Seconds without any worker until a survey gives up; what it has found is kept for the next one."""
_MOST_LOST = 3
"""Workers that may be lost with a repository until it counts as what they died of."""


class NoEngine(Exception):
    """An engine cannot be used; the message is a sentence."""


def processes(jobs: int) -> Engine:
    """So many processes at a time, on this machine."""

    def run(questions: Questions, limits: ChildLimits) -> Answers:
        pool = ThreadPoolExecutor(jobs)
        try:
            asked = {pool.submit(answer, dict(question), limits): str(question["path"]) for question in questions}
            for done in as_completed(asked):
                yield asked[done], done.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    return run


def dask(scheduler: str | None, jobs: int) -> Engine:
    """A cluster of dask: the one at an address, or one that is made here with so many workers.

    The repositories have to lie at the same place on every worker, and torchlift has to be installed there. What a worker was
    at that died is asked again.

    Raises:
        NoEngine: dask is not installed, nobody answers at the address, or all workers are gone.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise NoEngine(
            "`--engine dask` needs dask.distributed; run: pip install '.[dask]' in a clone of torchlift"
        ) from None

    def run(questions: Questions, limits: ChildLimits) -> Answers:
        try:
            made = None if scheduler else LocalCluster(
                n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR
            )  # fmt: skip
            client = Client(scheduler or made, timeout="20s")
        except (OSError, TimeoutError) as error:
            raise NoEngine(f"No scheduler of dask answers at {scheduler}: {error}.") from None
        try:
            if made is not None:
                made.adapt(minimum=jobs, maximum=jobs)  # one that died and did not come back is made anew
            yield from _asked(client, questions, limits)
        finally:
            client.close()
            if made is not None:
                made.close()

    return run


def _asked(client: Any, questions: Questions, limits: ChildLimits) -> Answers:
    """Ask a cluster, some questions at a time: what a worker has found is lost with it until it was fetched."""
    from distributed import TimeoutError as NothingYet
    from distributed import wait

    waiting = [(question, 0) for question in reversed(questions)]
    asked: dict[Any, tuple[Mapping[str, Any], int]] = {}
    alone = 0.0
    while waiting or asked:
        most = _IN_HAND * max(1, sum(client.nthreads().values()))
        while waiting and len(asked) < most:
            question, lost = waiting.pop()
            asked[client.submit(answer, dict(question), limits, pure=False)] = question, lost
        try:
            done = wait(list(asked), timeout=_LOOK_AGAIN, return_when="FIRST_COMPLETED").done
        except NothingYet:
            alone = 0.0 if client.nthreads() else alone + _LOOK_AGAIN
            if alone >= _PATIENCE:
                raise NoEngine(f"No worker of the cluster has been there for {_PATIENCE:.0f} s.") from None
            continue
        for future in done:
            question, lost = asked.pop(future)
            path = str(question["path"])
            if future.status == "finished":
                yield path, future.result()
            elif future.status != "error" and lost < _MOST_LOST:
                waiting.append((question, lost + 1))
            else:
                # dask gives up what took several workers with it.
                problem = "The workers that looked at it were lost."
                yield path, Surveyed(path, path.rpartition("/")[2], "killed", problem)
