"""The per-file stages over many files, in this process or in several; results always in the order of the files."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torchlift.migrate.check import Checked, Dispatcher
from torchlift.migrate.index import FileIndex, index_file, later, unselected
from torchlift.migrate.selection import RULES, Selection
from torchlift.project import Project
from torchlift.rules.known import known_rules
from torchlift.rules.rule import Settings

Progress = Callable[[str, int, int], None]

# Below this many bytes of Python to parse, starting processes costs more time than they save.
_WORTH_A_POOL = 4_000_000
_MOST_JOBS = 8


@dataclass(frozen=True)
class Work:
    """What every process needs to know.

    Attributes:
        codes: rules that run.
        settings: what rules may depend on.
    """

    codes: tuple[str, ...]
    settings: Settings


class _Worker:
    """State of one process."""

    def __init__(self, project: Project, work: Work) -> None:
        self.project = project
        self.settings = work.settings
        self.rules = [known_rules()[code] for code in work.codes]
        self.conditional = frozenset(rule.code for rule in self.rules if rule.applies is not None)
        self.wanted_by: dict[str, frozenset[str]] = {}
        self.dispatcher = Dispatcher(self.rules)
        self.collectors = tuple({c.name: c for rule in self.rules for c in rule.collectors}.values())

    @cached_property
    def selection(self) -> Selection:
        return Selection(self.project, self.rules, self.collectors, self.settings)

    def index(self, path: str) -> FileIndex:
        """What the collectors say about a file that rules want."""
        wanted_by = self.wanted_by.pop(path, None) or self.selection.wanted_by(path)
        return index_file(self.project, path, [c for c in self.collectors if c.name in wanted_by])

    def check(self, path: str) -> Checked:
        return self.dispatcher.check_file(self.project, path, self.settings)


_worker: _Worker | None = None


def calm_collector() -> None:
    """Let the garbage collector look for cycles rarely: syntax trees are large, short-lived and free of cycles."""
    gc.freeze()
    gc.set_threshold(1_000_000, 20, 20)


def _start(project: Project, work: Work) -> None:
    global _worker  # noqa: PLW0603 - one worker a process is what a pool's initialiser is for
    calm_collector()
    _worker = _Worker(project, work)


def _index_chunk(paths: Sequence[str]) -> list[FileIndex]:
    assert _worker is not None
    return [_worker.index(path) for path in paths]


def _check_chunk(paths: Sequence[str]) -> list[Checked]:
    assert _worker is not None
    return [_worker.check(path) for path in paths]


def index_files(
    project: Project, paths: Sequence[str], work: Work, jobs: int = 0, progress: Progress | None = None
) -> list[FileIndex]:
    """Index `paths`. Files that no rule wants never leave this process.

    In one process nothing is parsed here: a file is parsed where something is asked about it.
    """
    worker = _Worker(project, work)
    done: dict[str, FileIndex] = {}
    collected: list[str] = []
    size = 0
    for path in paths:
        try:
            wanted_by = worker.selection.wanted_by(path)
        except Exception:
            done[path] = unselected(path)
            continue
        codes = wanted_by & worker.conditional
        done[path] = later(path, RULES in wanted_by, codes, wanted_by - codes - {RULES})
        if done[path].wanted:
            with suppress(OSError):
                size += project.size(path)
            if done[path].records:
                worker.wanted_by[path] = wanted_by
                collected.append(path)
    jobs = _jobs(jobs, size)
    if jobs > 1:
        for result in _spread("index", worker.index, _index_chunk, project, collected, work, jobs, progress):
            done[result.path] = result
    return [done[path] for path in paths]


def check_files(
    project: Project, paths: Sequence[str], work: Work, jobs: int = 0, progress: Progress | None = None
) -> list[Checked]:
    """Run the rules on `paths`."""
    worker = _Worker(project, work)
    size = 0
    for path in paths if jobs != 1 else ():
        with suppress(OSError):  # a file that is gone meanwhile is reported where it is checked
            size += project.size(path)
    # Backwards: what was parsed last is still there.
    order = list(reversed(paths))
    results = _spread("check", worker.check, _check_chunk, project, order, work, _jobs(jobs, size), progress)
    return sorted(results, key=lambda checked: checked.path)


def _jobs(asked: int, size: int) -> int:
    if asked:
        return asked
    if size < _WORTH_A_POOL:
        return 1
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _MOST_JOBS)


def _spread(
    stage: str,
    here: Callable[[str], Any],
    there: Callable[[Sequence[str]], list[Any]],
    project: Project,
    paths: list[str],
    work: Work,
    jobs: int,
    progress: Progress | None,
) -> Iterator[Any]:
    if jobs <= 1 or len(paths) < 2 * jobs:
        for number, path in enumerate(paths, 1):
            yield here(path)
            if progress:
                progress(stage, number, len(paths))
        return
    from concurrent.futures import ProcessPoolExecutor

    bare = Project(project.root, project.files, project.overlay, project.indexed, project.wrappers)
    chunk = max(1, min(32, len(paths) // (jobs * 4)))
    chunks = [paths[start : start + chunk] for start in range(0, len(paths), chunk)]
    finished = 0
    with ProcessPoolExecutor(jobs, initializer=_start, initargs=(bare, work)) as pool:
        results: Iterable[list[Any]] = pool.map(there, chunks)
        for result in results:
            yield from result
            finished += len(result)
            if progress:
                progress(stage, finished, len(paths))
