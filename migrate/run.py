"""One run over a project: every stage in order, until no fix is left to apply."""

from __future__ import annotations

from torchlift.migrate.options import RunOptions
from torchlift.migrate.reading import KnownProject, read, result_of
from torchlift.migrate.result import RunResult

__all__ = ["KnownProject", "RunOptions", "analyse", "examine", "read"]


def analyse(options: RunOptions) -> RunResult:
    """Everything but writing: findings, fixes applied in memory, checks. Never raises for what a file holds."""
    reading = read(options)
    return examine(reading.options, reading)


def examine(options: RunOptions, reading: KnownProject) -> RunResult:
    """What a run over a project comes to.

    Args:
        options: what to do. Of those that `reading` has, the files may be fewer, and all may differ that have no part in
            which files there are and which rules want to see them.
        reading: the project; several runs over it share what they learn.
    """
    if not reading.is_any_wanted and all(file.unreadable is None for file in reading.selected):
        return result_of(options, reading.all_failures)
    from torchlift.migrate.alternatives import (
        Alternatives,  # with all that checks files: most small changes need none of it
    )

    return Alternatives(options, reading).result()
