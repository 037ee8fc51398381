"""What a run knows about a file before the rules run."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchlift.finding import Failure
from torchlift.project import Collector, Deferred, Project


@dataclass(frozen=True)
class FileIndex:
    """What is known about one file.

    Attributes:
        path: the file.
        wanted: whether rules run on it.
        wanted_if: codes of rules that it has to be looked at for, too, where they apply to the project.
        records: what the collectors recorded, or will record when somebody asks.
        failure: a defect of torchlift that kept records from being made.
    """

    path: str
    wanted: bool = False
    wanted_if: frozenset[str] = frozenset()
    records: Mapping[str, Any] = field(default_factory=dict)
    failure: Failure | None = None


def later(path: str, wanted: bool, wanted_if: frozenset[str], collectors: Iterable[str]) -> FileIndex:
    """What is known about a file that has not been parsed: the named collectors may come back to it."""
    return FileIndex(path, wanted, wanted_if, dict.fromkeys(collectors, Deferred.DEFERRED))


def unselected(path: str) -> FileIndex:
    """What is known about a file where the search for words of the rules crashed just now."""
    reason = "It could not be told whether rules want the file, and nothing is known about it."
    return FileIndex(path, failure=Failure(path, "select", reason, ours=True, detail=traceback.format_exc()))


def index_file(project: Project, path: str, collectors: Sequence[Collector]) -> FileIndex:
    """Parse a file that rules want, and collect. Whether it can be parsed is said where the rules run."""
    try:
        records = {collector.name: project.collected(collector, path) for collector in collectors}
    except Exception:
        reason = "The file could not be indexed, and what other files say about it may be incomplete."
        failure = Failure(path, "index", reason, ours=True, detail=traceback.format_exc())
        return FileIndex(path, wanted=True, failure=failure)
    return FileIndex(path, True, records={name: record for name, record in records.items() if record is not None})
