"""The findings of a run as every report lists them: with the text their span is in, and whether they are gone."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, TextEdit, applied
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.result import RunResult
from torchlift.source import SourceText, Span


@dataclass(frozen=True, slots=True)
class Item:
    """One finding of a report.

    Attributes:
        finding: the finding.
        source: the text its span and its edits refer to.
        fixed: whether its fix is part of the file's new text, which was written or is shown as a patch.
        applicable: whether this run's settings let its fix be applied.
        edits: text edits of its fix, where they were asked for.
    """

    finding: Finding
    source: SourceText
    fixed: bool
    applicable: bool
    edits: tuple[TextEdit, ...] = ()

    @property
    def span(self) -> Span:
        """The finding's span, cut to the text."""
        return cut(self.finding.span, self.source)


def cut(span: Span, source: SourceText) -> Span:
    """The part of `span` that lies inside the text of `source`."""
    start = min(span.start, len(source.text))
    return Span(start, min(max(span.end, start), len(source.text)))


def items(result: RunResult) -> Iterator[Item]:
    """Every finding of a run by file, fixed ones first.

    A fix whose file could not be written in the end has fixed nothing.
    """
    allowed = applied(unsafe_fixes=result.unsafe_fixes)
    for outcome in result.outcomes:
        for finding in outcome.fixed:
            yield Item(finding, outcome.source, outcome.refused is None, finding.safety in allowed)
        shown = outcome.shown
        for index, finding in enumerate(outcome.left):
            edits = outcome.edits[index] if index < len(outcome.edits) else ()
            yield Item(finding, shown, False, finding.safety in allowed, edits)


def left(result: RunResult) -> list[Item]:
    """The findings that remain, by file and place."""
    return sorted((item for item in items(result) if not item.fixed), key=lambda item: item.finding.sort_key())
