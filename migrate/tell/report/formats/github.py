"""Annotations: workflow commands that GitHub Actions shows beside the lines of a pull request.

How values are escaped is in `actions/toolkit`, packages/core/src/command.ts (read 2026-11-23). GitHub shows ten annotations a level and
step, so findings that wait for another come last.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchlift.finding import Severity
from torchlift.migrate.tell.report.formats.listing import ListedFinding, Trouble

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(entries: Sequence[ListedFinding], troubles: Sequence[Trouble]) -> str:
    """One command a line; empty if there is nothing to say."""
    lines = [_command("error", {"title": "torchlift", "file": t.path}, t.text) for t in troubles]
    lines += [_annotation(entry) for entry in sorted(entries, key=lambda entry: entry.waits)]
    return "".join(f"{line}\n" for line in lines)


def _annotation(entry: ListedFinding) -> str:
    place = entry.place
    where: dict[str, object] = {"title": f"{entry.code} {entry.name}", "file": entry.path, "line": place.row}
    where["endLine"] = place.end_row
    if place.row == place.end_row:
        # GitHub refuses columns of a range of several lines.
        where |= {"col": place.column, "endColumn": place.end_column}
    return _command(_LEVELS[entry.severity], where, entry.text)


def _command(level: str, properties: dict[str, object], text: str) -> str:
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{level} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # What acts on a terminal does so in the log as well; no annotation is worth that.
    shown = "".join(c if c.isprintable() or c in "\r\n" else ascii(c)[1:-1] for c in text)
    return _data(shown).replace(":", "%3A").replace(",", "%2C")
