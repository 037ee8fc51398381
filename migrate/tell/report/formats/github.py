"""Annotations of GitHub Actions beside the lines of a pull request; findings that wait for another come last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from torchlift.finding import Severity
from torchlift.migrate.tell.report.formats.listing import ListedFinding, Trouble
from torchlift.pipelines.github import annotation

_LEVELS: Mapping[Severity, Literal["error", "warning", "notice"]] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
}


def render(entries: Sequence[ListedFinding], troubles: Sequence[Trouble]) -> str:
    """One command a line; empty if there is nothing to say."""
    lines = [annotation("error", {"title": "torchlift", "file": t.path}, t.text) for t in troubles]
    return "".join([*lines, *(_annotation(entry) for entry in sorted(entries, key=lambda entry: entry.waits))])


def _annotation(entry: ListedFinding) -> str:
    place = entry.place
    where: dict[str, object] = {"title": f"{entry.code} {entry.name}", "file": entry.path, "line": place.row}
    where["endLine"] = place.end_row
    if place.row == place.end_row:
        # GitHub refuses columns of a range of several lines.
        where |= {"col": place.column, "endColumn": place.end_column}
    return annotation(_LEVELS[entry.severity], where, entry.text)
