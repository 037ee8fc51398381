"""reviewdog's format of diagnostics, `rdjson`.

Message `DiagnosticResult` in proto/rdf/reviewdog.proto of reviewdog (read 2026-11-23): columns count bytes of UTF-8 from 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from torchlift.finding import Severity
from torchlift.migrate.tell.report.formats.listing import ListedFinding, Trouble
from torchlift.source import SourceText, Span

_LEVELS = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def render(entries: Sequence[ListedFinding], troubles: Sequence[Trouble]) -> str:
    """The whole document."""
    diagnostics = [
        {"message": t.text, "location": {"path": t.path}, "severity": "ERROR", "code": {"value": "torchlift"}}
        for t in troubles
    ]
    found = {"source": {"name": "torchlift"}, "diagnostics": [*diagnostics, *map(_diagnostic, entries)]}
    return json.dumps(found, indent=2) + "\n"


def _diagnostic(entry: ListedFinding) -> dict[str, Any]:
    code = {"value": entry.code, **({"url": entry.url} if entry.url else {})}
    found: dict[str, Any] = {
        "message": entry.text,
        "location": {"path": entry.path, "range": _range(entry.source, entry.span)},
        "severity": _LEVELS[entry.severity],
        "code": code,
    }
    if entry.edits:
        found["suggestions"] = [_suggestion(entry)]
    return found


def _suggestion(entry: ListedFinding) -> dict[str, Any]:
    """All edits as one, since each suggestion is accepted by itself."""
    whole = Span(min(edit.span.start for edit in entry.edits), max(edit.span.end for edit in entry.edits))
    text, at = "", whole.start
    for edit in sorted(entry.edits, key=lambda edit: (edit.span.start, edit.span.end)):
        text += entry.source.text[at : edit.span.start] + edit.text
        at = edit.span.end
    return {"range": _range(entry.source, whole), "text": text}


def _range(source: SourceText, span: Span) -> dict[str, Any]:
    if source.part(1).number is not None:  # columns of JSON say nothing
        first, _, last, _ = source.written(span)
        return {"start": {"line": first}, "end": {"line": last}}
    return {"start": _position(source, span.start), "end": _position(source, span.end)}


def _position(source: SourceText, offset: int) -> dict[str, int]:
    row, column = source.location(offset)
    before = source.text[offset - column + 1 : offset]
    return {"line": row, "column": len(before.encode("utf-8", "surrogatepass")) + 1}
