"""Many files checked, in this process or in several; results always in the order of the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from torchlift.migrate.find.check import Checked
from torchlift.migrate.find.selection import Progress
from torchlift.project import Project
from torchlift.terminal.collector import calm_collector

# Below this many bytes of Python to parse, starting processes costs more time than they save.
_WORTH_A_POOL = 4_000_000
_MOST_JOBS = 8


Check = Callable[[str], Checked]
Begin = Callable[[Project], Check]
"""Makes what checks the files of a project, in whichever process; it has to be picklable."""

_check: Check | None = None
_project: Project | None = None


def _start(project: Project, begin: Begin) -> None:
    global _check, _project
    calm_collector()
    _check, _project = begin(project), project


def _check_chunk(paths: Sequence[str]) -> list[Checked]:
    assert _check is not None and _project is not None
    _project.expect(paths)
    return [_check(path) for path in paths]


def check_files(
    project: Project, paths: Sequence[str], begin: Begin, jobs: int = 0, progress: Progress | None = None
) -> list[Checked]:
    """Check the files `paths`; results are in their order."""
    check = begin(project)
    project.expect(paths)
    size = 0
    for path in paths if jobs != 1 else ():
        with suppress(OSError):  # a file that is gone meanwhile is reported where it is checked
            size += project.size(path)
    results = {checked.path: checked for checked in _spread(check, project, paths, begin, _jobs(jobs, size), progress)}
    return [results[path] for path in paths]


def _jobs(asked: int, size: int) -> int:
    if asked:
        return asked
    if size < _WORTH_A_POOL:
        return 1
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _MOST_JOBS)


def _spread(
    check: Check,
    project: Project,
    paths: Sequence[str],
    begin: Begin,
    jobs: int,
    progress: Progress | None,
) -> Iterator[Checked]:
    if jobs <= 1 or len(paths) < 2 * jobs:
        for number, path in enumerate(paths, 1):
            yield check(path)
            if progress:
                progress("check", number, len(paths))
        return
    from concurrent.futures import ProcessPoolExecutor

    chunk = max(1, min(32, len(paths) // (jobs * 4)))
    chunks = [paths[start : start + chunk] for start in range(0, len(paths), chunk)]
    finished = 0
    with ProcessPoolExecutor(jobs, initializer=_start, initargs=(project.without_views(), begin)) as pool:
        for results in pool.map(_check_chunk, chunks):
            yield from results
            finished += len(results)
            if progress:
                progress("check", finished, len(paths))
