"""Findings and edits in the words of the Language Server Protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path

from lsprotocol import types

from torchlift.finding import Finding, Safety, Severity
from torchlift.rules.registry import url_of
from torchlift.rules.rule import Rule
from torchlift.server.positions import Positions
from torchlift.source import SourceText, Span

SOURCE = "torchlift"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_PLACE = re.compile(r"(?P<path>[\w.+-]+(?:/[\w.+-]+)*\.\w+):(?P<line>\d+)")
SAFETY = {
    Safety.SAFE: "safe",
    Safety.PROVEN: "proven by a recorded run",
    Safety.UNSAFE: "needs review",
}


def diagnostic(finding: Finding, positions: Positions, root: Path, rules: Mapping[str, Rule]) -> types.Diagnostic:
    """A finding as editors show it."""
    rule = rules.get(finding.code)
    url = url_of(rule) if rule is not None else None
    parts = [finding.message]
    if finding.fix is None and finding.help:
        parts.append(finding.help)
    return types.Diagnostic(
        range=_range(positions, finding.span),
        message="\n\n".join(parts),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(href=url) if url is not None else None,
        source=SOURCE,
        related_information=list(_related(finding, root)) or None,
    )


def _related(finding: Finding, root: Path) -> Iterator[types.DiagnosticRelatedInformation]:
    """Other places that the finding names."""
    told = [(f"This has to change first: {finding.waits_for}", finding.waits_for)] if finding.waits_for else []
    told += [(note, note) for note in finding.notes]
    for message, text in told:
        for place in _PLACE.finditer(text):
            path = root / place["path"]
            if path.is_file():
                at = types.Position(max(int(place["line"]) - 1, 0), 0)
                yield types.DiagnosticRelatedInformation(types.Location(path.as_uri(), types.Range(at, at)), message)


def explained(finding: Finding, rule: Rule | None) -> str:
    """What is shown over a finding, in Markdown."""
    name = f"**{finding.code}** `{rule.name}`" if rule is not None else f"**{finding.code}**"
    parts = [name, finding.message]
    if finding.help:
        parts.append(finding.help)
    if finding.notes:
        parts.append("\n".join(f"- {note}" for note in finding.notes))
    if finding.fix is not None:
        parts.append(f"Fix ({SAFETY[finding.fix.safety]}): {finding.fix.title}.")
    if rule is not None:
        parts += ["---", rule.why]
        if (url := url_of(rule)) is not None:
            parts.append(f"[Source]({url})")
    return "\n\n".join(parts)


def text_edits(before: SourceText, after: SourceText, encoding: str) -> list[types.TextEdit]:
    """Edits of whole lines that make one text of the other."""
    positions = Positions(before.text, encoding)
    old, new = before.text.splitlines(keepends=True), after.text.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    return [
        types.TextEdit(_range(positions, Span(starts[a], starts[b])), "".join(new[c:d]))
        for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def workspace_edit(
    texts: Mapping[str, tuple[SourceText, SourceText]],
    versions: Mapping[str, int | None],
    encoding: str,
    *,
    versioned: bool,
) -> types.WorkspaceEdit:
    """An edit of several documents, by address, each with the version it is meant for if the editor counts them."""
    edits = {uri: text_edits(before, after, encoding) for uri, (before, after) in texts.items()}
    if not versioned:
        return types.WorkspaceEdit(changes=edits)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)), list(some))
            for uri, some in edits.items()
        ]
    )


def suppression(finding: Finding, source: SourceText, encoding: str) -> types.TextEdit | None:
    """The edit that adds a comment which silences a finding; None where its line cannot take one."""
    covered = finding.statement or finding.span
    line, _ = source.location(max(covered.end - 1, covered.start))
    text = source.line(line).rstrip("\r\n")
    if text.endswith("\\") or "torchlift:" in text:
        return None
    at = source.line_starts[line - 1] + len(text.rstrip())
    return types.TextEdit(
        _range(Positions(source.text, encoding), Span(at, at)), f"  # torchlift: ignore[{finding.code}]"
    )


def _range(positions: Positions, span: Span) -> types.Range:
    start, end = positions.position(span.start), positions.position(span.end)
    return types.Range(types.Position(*start), types.Position(*end))
