"""From the bytes of one file to what the rest of a run needs to know about it."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchlift.finding import Failure
from torchlift.project import Collector, Deferred, Project
from torchlift.source import UnreadableSource


@dataclass(frozen=True)
class FileIndex:
    """Result of indexing one file.

    Attributes:
        path: the file.
        parsed: whether it passed the prefilter and was parsed.
        hits: number of uses of rule targets.
        records: what the collectors recorded.
        unreadable: why it could not be analysed, a sentence fragment; None if it could.
        line: 1-based line of a syntax error, 0 if it has none.
        failure: a defect of torchlift that kept it from being indexed.
    """

    path: str
    parsed: bool = False
    hits: int = 0
    records: Mapping[str, Any] = field(default_factory=dict)
    unreadable: str | None = None
    line: int = 0
    failure: Failure | None = None


def index_file(
    project: Project,
    path: str,
    targets: frozenset[str],
    collectors: Sequence[Collector],
) -> FileIndex:
    """Read, parse and index one file; every failure is part of the result.

    Args:
        project: the project.
        path: the file.
        targets: names that rules want to hear about.
        collectors: those whose triggers stand in the file.
    """
    try:
        data = project.data(path)
    except OSError as error:
        return FileIndex(path, unreadable=f"it cannot be read ({error.strerror or error})")
    try:
        view = project.parse(path)
        hits = len(view.uses(targets, project.translate))
        records = {}
        for collector in collectors:
            record = collector.collect(view)
            if record is not None:
                records[collector.name] = record
    except UnreadableSource as error:
        return FileIndex(path, unreadable=str(error))
    except SyntaxError as error:
        return FileIndex(path, unreadable=_syntax_reason(error), line=error.lineno or 0)
    except (RecursionError, MemoryError):
        return FileIndex(path, unreadable="it is nested too deeply for Python's parser")
    except ValueError as error:
        return FileIndex(path, unreadable=f"Python's parser refuses it ({error})")
    except Exception:
        reason = "The file could not be indexed, and nothing is known about it."
        return FileIndex(path, failure=Failure(path, "index", reason, ours=True, detail=traceback.format_exc()))
    hits += b"torchlift:" in data
    return FileIndex(path, parsed=True, hits=hits, records=records)


def stopped_file(path: str, wanted_by: Iterable[str]) -> FileIndex:
    """The result for a file without any rule's words; the collectors named in `wanted_by` may come back to it."""
    return FileIndex(path, records=dict.fromkeys(wanted_by, Deferred.DEFERRED))


def _syntax_reason(error: SyntaxError) -> str:
    import platform

    version = ".".join(platform.python_version_tuple()[:2])
    return f"it is not valid Python {version} ({error.msg}); code for a newer Python needs torchlift run by that Python"
