"""Places in notebooks as people count them: rules speak of lines of the whole Python, readers of a cell and a line in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from torchlift.finding import Finding
from torchlift.lazy_pattern import lazy_pattern
from torchlift.notebook import is_notebook
from torchlift.project import Project
from torchlift.source import UnreadableSource

_PLACE = lazy_pattern(r"([\w.+-]+(?:/[\w.+-]+)*\.ipynb):(\d+)")
_OWN_LINE = lazy_pattern(r"\bline (\d+)\b")
_Record = TypeVar("_Record")


def in_cells(finding: Finding, project: Project) -> Finding:
    """The finding with the lines of notebooks in its words counted within their cells."""
    own = finding.path if is_notebook(finding.path) else None
    said = (finding.message, finding.help or "", *finding.notes)
    if own is None and not any(_PLACE.search(text) for text in said):
        return finding
    return replace(
        finding,
        message=_worded(finding.message, project, own),
        help=_worded(finding.help, project, own) if finding.help is not None else None,
        notes=tuple(_worded(note, project, own) for note in finding.notes),
    )


def record_in_cells(record: _Record, project: Project) -> _Record:
    """A record of strings and of other such records, with the places in notebooks counted within their cells."""
    if not any(map(is_notebook, project.files)):
        return record
    counted: _Record = _counted(record, project)
    return counted


def _counted(value: Any, project: Project) -> Any:
    if isinstance(value, str):
        return _worded(value, project, None) if _PLACE.search(value) else value
    if isinstance(value, (list, tuple)):
        return type(value)(_counted(one, project) for one in value)
    if isinstance(value, dict):
        return {_counted(key, project): _counted(one, project) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _counted(getattr(value, one.name), project) for one in fields(value)})
    return value


def _worded(text: str, project: Project, own: str | None) -> str:
    def counted(path: str, number: int, word: Callable[[int, int], str]) -> str | None:
        with suppress(OSError, UnreadableSource):
            part = project.source(path).part(number)
            if part.number is not None and part.first <= number <= part.last:
                return word(part.number, number - part.first + 1)
        return None

    def elsewhere(match: re.Match[str]) -> str:
        return counted(match[1], int(match[2]), lambda cell, line: f"{match[1]}:cell {cell}:{line}") or match[0]

    def here(match: re.Match[str]) -> str:
        return counted(own or "", int(match[1]), lambda cell, line: f"line {line} of cell {cell}") or match[0]

    text = _PLACE.sub(elsewhere, text)
    return _OWN_LINE.sub(here, text) if own is not None else text
