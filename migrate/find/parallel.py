"""Many files checked, in this process or in several; results always in the order of the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from torchlift.migrate.find.selection import Progress
from torchlift.project import Project
from torchlift.terminal.collector import calm_collector

if TYPE_CHECKING:
    from torchlift.migrate.find.check import Checked

# Below this many bytes of Python to look at or to parse, starting processes costs more time than they save.
_WORTH_A_POOL = 4_000_000
_MOST_JOBS = 8
_SCRIPTING = b"jit"


Check = Callable[[str], "Checked"]
Begin = Callable[[Project], Check]
"""Makes what checks the files of a project, in whichever process; it has to be picklable."""
Seen = TypeVar("Seen")

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


def looked_at(
    project: Project, paths: Sequence[str], look: Callable[[str], Seen], jobs: int
) -> Iterator[tuple[str, Seen]]:
    """Look at files, none of which has to be parsed for it; results are in no order."""
    jobs = _jobs(project, paths, jobs)
    if jobs > 1:
        from torchlift.migrate.find.sharing import Sharing, can_fork

        if can_fork():
            yield from Sharing(look, paths, 0, jobs - 1).results()
            return
    for path in paths:
        yield path, look(path)


def check_files(
    project: Project, paths: Sequence[str], begin: Begin, jobs: int = 0, progress: Progress | None = None
) -> list[Checked]:
    """Check the files `paths`; results are in their order."""
    check = begin(project)
    project.expect(paths)
    results: dict[str, Checked] = {}
    for checked in _spread(check, project, paths, begin, _jobs(project, paths, jobs)):
        results[checked.path] = checked
        if progress:
            progress("check", len(results), len(paths))
    return [results[path] for path in paths]


def _jobs(project: Project, paths: Sequence[str], asked: int) -> int:
    """How many processes to use; `asked` as for `RunOptions.jobs`."""
    if asked or not paths:
        return asked if len(paths) >= 2 * asked else 1
    size = 0
    for path in paths:
        with suppress(OSError):  # a file that is gone meanwhile is reported where it is checked
            size += project.size(path)
    if size < _WORTH_A_POOL:
        return 1
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _MOST_JOBS)


def _spread(check: Check, project: Project, paths: Sequence[str], begin: Begin, jobs: int) -> Iterator[Checked]:
    if jobs <= 1:
        yield from map(check, paths)
        return
    from torchlift.migrate.find.sharing import Sharing, can_fork

    if can_fork():
        dear = [path for path in paths if _is_dear(project, path)]
        # Children take them from behind, so that they, too, go through a folder in its order.
        others = sorted(frozenset(paths).difference(dear), reverse=True)
        for _, checked in Sharing(check, [*dear, *others], len(dear), jobs - 1).results():
            yield checked
        return
    from concurrent.futures import ProcessPoolExecutor

    chunk = max(1, min(32, len(paths) // (jobs * 4)))
    chunks = [paths[start : start + chunk] for start in range(0, len(paths), chunk)]
    with ProcessPoolExecutor(jobs, initializer=_start, initargs=(project.without_views(), begin)) as pool:
        for results in pool.map(_check_chunk, chunks):
            yield from results


def _is_dear(project: Project, path: str) -> bool:
    """Whether rules may ask what the whole project compiles, which takes as long as to check hundreds of files."""
    with suppress(OSError):
        return _SCRIPTING in project.data(path)
    return False
