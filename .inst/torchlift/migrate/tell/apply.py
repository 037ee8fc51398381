"""Write the changed files of a run; files that belong together end up all new or all old."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from torchlift.finding import FileFailure
from torchlift.migrate.result import FileOutcome, RunResult
from torchlift.migrate.tell.hard_links import HardLinks
from torchlift.migrate.tell.write import ChangedOnDisk, set_aside, write_atomic


def write_outcomes(result: RunResult, root: Path) -> RunResult:
    """Write every outcome that has a new text and was not refused.

    A file that cannot be written is reported as a failure, and files whose fixes go together with its fixes get their
    old bytes back.
    """
    outcomes = {outcome.path: outcome for outcome in result.outcomes}
    failures = list(result.failures)
    together = {path: _groups(result, path) for path in outcomes}
    written: list[FileOutcome] = []
    aside: dict[str, Path] = {}
    links = HardLinks([root / path for path in outcomes])
    for outcome in result.outcomes:
        if outcome.new_text is None or outcome.refused is not None:
            continue
        path = root / outcome.path
        if outcome.is_removed:
            problem = _remove(path, outcome, aside)
        else:
            problem = _write(path, outcome.source.to_bytes(), outcome.shown.to_bytes(), links)
        if problem is None:
            written.append(outcome)
            continue
        failures.append(FileFailure(outcome.path, "write", problem))
        outcomes[outcome.path] = replace(outcome, refused="could not be written")
        for other in [item for item in written if together[item.path] & together[outcome.path]]:
            written.remove(other)
            outcomes[other.path] = replace(
                other, refused=f"belongs together with {outcome.path}, which was not written"
            )
            undo = _undo(root / other.path, other, aside)
            if undo is not None:
                failures.append(FileFailure(other.path, "write", f"The old text could not be put back: {undo}"))
    failures += [
        FileFailure(path, "write", problem)
        for path, kept in aside.items()
        if (problem := _attempt(kept.unlink)) is not None
    ]
    ordered = tuple(outcomes[path] for path in sorted(outcomes))
    return replace(result, outcomes=ordered, failures=tuple(failures), notes=(*result.notes, *links.notes()))


def _undo(path: Path, outcome: FileOutcome, aside: dict[str, Path]) -> str | None:
    if outcome.path not in aside:
        return _write(path, outcome.shown.to_bytes(), outcome.source.to_bytes(), None)
    return _attempt(lambda: aside.pop(outcome.path).replace(path))


def _write(path: Path, expected: bytes, data: bytes, links: HardLinks | None) -> str | None:
    """Replace `expected` by `data`; a sentence if that was not possible."""

    def write() -> None:
        same = links.written(path, data) if links is not None else None
        write_atomic(path, data, expected=expected, link_to=same)
        if links is not None:
            links.add(path, data)

    return _attempt(write)


def _remove(path: Path, outcome: FileOutcome, aside: dict[str, Path]) -> str | None:
    """Set a file aside; a sentence if that was not possible."""

    def remove() -> None:
        aside[outcome.path] = set_aside(path, expected=outcome.source.to_bytes())

    return _attempt(remove)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a signal that ends the run wait until one file is all new or all old, with nothing beside it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _attempt(change: Callable[[], object]) -> str | None:
    try:
        with _undisturbed():
            change()
    except ChangedOnDisk:
        return "The file was changed by another program while torchlift was working on it; run torchlift again."
    except OSError as error:
        return f"The file could not be written: {error.strerror or error}."
    return None


def _groups(result: RunResult, path: str) -> frozenset[str]:
    """Keys of the groups whose applied fixes concern a file."""
    return frozenset(
        group.key
        for outcome in result.outcomes
        for finding in outcome.fixed
        for group in finding.groups
        if path in group.paths
    )
