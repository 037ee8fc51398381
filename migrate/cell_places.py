"""Places in notebooks as people count them: rules speak of lines of the whole Python, readers of a cell and a line in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from torchlift.finding import Finding
from torchlift.notebook import is_notebook
from torchlift.project import Project
from torchlift.source import UnreadableSource

_PLACE = re.compile(r"([\w.+-]+(?:/[\w.+-]+)*\.ipynb):(\d+)")
_OWN_LINE = re.compile(r"\bline (\d+)\b")


def in_cells(finding: Finding, project: Project) -> Finding:
    """The finding with the lines of notebooks in its words counted within their cells."""
    said = (finding.message, finding.help or "", *finding.notes)
    if not is_notebook(finding.path) and not any(_PLACE.search(text) for text in said):
        return finding

    def counted(path: str, number: int, word: Callable[[int, int], str]) -> str | None:
        with suppress(OSError, UnreadableSource):
            part = project.source(path).part(number)
            if part.number is not None and part.first <= number <= part.last:
                return word(part.number, number - part.first + 1)
        return None

    def elsewhere(match: re.Match[str]) -> str:
        return counted(match[1], int(match[2]), lambda cell, line: f"{match[1]}:cell {cell}:{line}") or match[0]

    def here(match: re.Match[str]) -> str:
        return counted(finding.path, int(match[1]), lambda cell, line: f"line {line} of cell {cell}") or match[0]

    def worded(text: str) -> str:
        text = _PLACE.sub(elsewhere, text)
        return _OWN_LINE.sub(here, text) if is_notebook(finding.path) else text

    return replace(
        finding,
        message=worded(finding.message),
        help=worded(finding.help) if finding.help is not None else None,
        notes=tuple(map(worded, finding.notes)),
    )
