"""The rules over many files, in this process or in several; results always in the order of the files."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.find.check import Checked, Dispatcher
from torchlift.migrate.find.selection import Progress
from torchlift.project import Project
from torchlift.rules.own_rules import rules_with
from torchlift.rules.rule import Settings

# Below this many bytes of Python to parse, starting processes costs more time than they save.
_WORTH_A_POOL = 4_000_000
_MOST_JOBS = 8


@dataclass(frozen=True)
class Work:
    """What every process needs to know.

    Attributes:
        codes: rules that run.
        settings: what rules may depend on.
        own_rules: files and folders of rules outside torchlift.
    """

    codes: tuple[str, ...]
    settings: Settings
    own_rules: tuple[Path, ...] = ()


class _Worker:
    """State of one process."""

    def __init__(self, project: Project, work: Work) -> None:
        self.project = project
        self.settings = work.settings
        self.dispatcher = _dispatcher(work.codes, work.own_rules)

    def check(self, path: str) -> Checked:
        return self.dispatcher.check_file(self.project, path, self.settings)


@lru_cache(maxsize=4)
def _dispatcher(codes: tuple[str, ...], own: tuple[Path, ...]) -> Dispatcher:
    rules = rules_with(own)
    return Dispatcher([rules[code] for code in codes])


_worker: _Worker | None = None


def calm_collector() -> None:
    """Let the garbage collector look for cycles rarely: syntax trees are large, short-lived and free of cycles."""
    gc.freeze()
    gc.set_threshold(1_000_000, 20, 20)


def _start(project: Project, work: Work) -> None:
    global _worker  # noqa: PLW0603 - one worker a process is what a pool's initialiser is for
    calm_collector()
    _worker = _Worker(project, work)


def _check_chunk(paths: Sequence[str]) -> list[Checked]:
    assert _worker is not None
    _worker.project.expect(paths)
    return [_worker.check(path) for path in paths]


def check_files(
    project: Project, paths: Sequence[str], work: Work, jobs: int = 0, progress: Progress | None = None
) -> list[Checked]:
    """Run the rules on `paths`."""
    worker = _Worker(project, work)
    project.expect(paths)
    size = 0
    for path in paths if jobs != 1 else ():
        with suppress(OSError):  # a file that is gone meanwhile is reported where it is checked
            size += project.size(path)
    results = _spread(worker.check, project, list(paths), work, _jobs(jobs, size), progress)
    return sorted(results, key=lambda checked: checked.path)


def _jobs(asked: int, size: int) -> int:
    if asked:
        return asked
    if size < _WORTH_A_POOL:
        return 1
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _MOST_JOBS)


def _spread(
    here: Callable[[str], Checked],
    project: Project,
    paths: list[str],
    work: Work,
    jobs: int,
    progress: Progress | None,
) -> Iterator[Checked]:
    if jobs <= 1 or len(paths) < 2 * jobs:
        for number, path in enumerate(paths, 1):
            yield here(path)
            if progress:
                progress("check", number, len(paths))
        return
    from concurrent.futures import ProcessPoolExecutor

    bare = project.with_texts({})  # no view of a file goes with it
    chunk = max(1, min(32, len(paths) // (jobs * 4)))
    chunks = [paths[start : start + chunk] for start in range(0, len(paths), chunk)]
    finished = 0
    with ProcessPoolExecutor(jobs, initializer=_start, initargs=(bare, work)) as pool:
        for results in pool.map(_check_chunk, chunks):
            yield from results
            finished += len(results)
            if progress:
                progress("check", finished, len(paths))
