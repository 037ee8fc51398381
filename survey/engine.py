"""Who looks at many repositories: processes of this machine, or a cluster of dask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from torchlift.survey.child import Limits, answer
from torchlift.survey.record import Surveyed

Questions = Sequence[Mapping[str, Any]]
Answers = Iterator[tuple[str, Surveyed | None]]
"""Folder by folder, as they come: what is known of it, None if nothing has changed."""
Engine = Callable[[Questions, Limits], Answers]


class NoEngine(Exception):
    """An engine cannot be used; the message is a sentence."""


def processes(jobs: int) -> Engine:
    """So many processes at a time, on this machine."""

    def run(questions: Questions, limits: Limits) -> Answers:
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

    The repositories have to lie at the same place on every worker, and torchlift has to be installed there. A worker that dies
    costs the repositories that it was at their next try; dask gives up a repository that took three workers with it.

    Raises:
        NoEngine: dask is not installed, or nobody answers at the address.
    """
    try:
        from distributed import Client, LocalCluster
        from distributed import as_completed as completed
    except ImportError:
        raise NoEngine("`--engine dask` needs dask.distributed; run: pip install 'torchlift[dask]'") from None

    def run(questions: Questions, limits: Limits) -> Answers:
        try:
            cluster = None if scheduler else LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
            client = Client(scheduler or cluster, timeout="20s")
        except (OSError, TimeoutError) as error:
            raise NoEngine(f"No scheduler of dask answers at {scheduler}: {error}.") from None
        try:
            asked = {
                client.submit(answer, dict(question), limits, pure=False, retries=2): str(question["path"])
                for question in questions
            }
            for done in completed(list(asked)):
                path = asked[done]
                if done.status == "finished":
                    yield path, done.result()
                else:
                    problem = f"The worker that looked at it was lost ({type(done.exception()).__name__})."
                    yield path, Surveyed(path, path.rpartition("/")[2], "killed", problem)
        finally:
            client.close()
            if cluster is not None:
                cluster.close()

    return run
