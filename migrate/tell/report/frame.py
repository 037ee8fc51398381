"""A source frame: the line a finding is on, the lines around it, and carets below the code that is meant.

   |
41 | with torch.no_grad():
42 |     traced = torch.jit.trace(model, example)
   |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
43 |     traced.save("model.pt")
   |
"""

from __future__ import annotations

from collections.abc import Sequence

from torchlift.finding import Severity
from torchlift.migrate.tell.report.palette import Palette
from torchlift.source import SourceText, Span
from torchlift.terminal.columns import cells

CONTEXT = 2
"""Lines shown on either side of a finding."""

_WIDTH = 140
_CUT = "..."


def frame(source: SourceText, spans: Sequence[Span], severity: Severity, palette: Palette) -> tuple[list[str], int]:
    """The lines of a frame, and the width of its gutter.

    Of a span over several lines only the part on the first is underlined. Lines are cut to a fixed width around the
    span, in time that does not depend on their length. An empty file has no frame.

    Args:
        source: the text.
        spans: spans inside it, in order, that are no further apart than a frame shows.
        severity: gives the carets their colour.
        palette: colours.
    """
    if not source.text:
        return [], 1
    rows: dict[int, list[Span]] = {}
    for span in spans:
        rows.setdefault(source.location(span.start)[0], []).append(span)
    numbers = _lines_around(source, min(rows), max(rows))
    counted_from = source.part(numbers[0]).first - 1
    width = len(str(numbers[-1] - counted_from))
    bar = palette.gutter(f"{' ' * width} |")
    lines = [bar]
    for number in numbers:
        start, end = _bounds(source, number)
        if number not in rows:
            shown, _ = _cut(source, start, end, Span(start, start))
            lines.append(_row(palette, f"{number - counted_from:>{width}}", shown))
            continue
        # A long line is cut around its first span, and once more around each that is not to be seen there.
        for index, span in enumerate(rows[number]):
            shown, (first, last) = _cut(source, start, end, span)
            if not index or end - start > _WIDTH:
                lines.append(_row(palette, f"{number - counted_from:>{width}}", shown))
            carets = palette.severity("^" * max(1, last - first), severity)
            lines.append(f"{bar} {' ' * first}{carets}")
    lines.append(bar)
    return lines, width


def _row(palette: Palette, number: str, shown: str) -> str:
    return f"{palette.gutter(f'{number} |')} {shown}".rstrip()


def _lines_around(source: SourceText, first: int, last: int) -> list[int]:
    """1-based numbers of the lines to show: blank ones at the edges say nothing."""
    numbers = list(
        range(max(source.part(first).first, first - CONTEXT), min(source.part(last).last, last + CONTEXT) + 1)
    )
    while numbers[0] < first and _is_blank(source, numbers[0]):
        del numbers[0]
    while numbers[-1] > last and _is_blank(source, numbers[-1]):
        del numbers[-1]
    return numbers


def _is_blank(source: SourceText, number: int) -> bool:
    start, end = _bounds(source, number)
    return end - start <= _WIDTH and not source.text[start:end].strip()


def _bounds(source: SourceText, number: int) -> tuple[int, int]:
    """Where a 1-based line starts and where its newline does."""
    start = source.line_starts[number - 1]
    start += source.hidden(number)
    if number == len(source.line_starts):
        return start, len(source.text)
    end = source.line_starts[number] - 1
    return start, end - (source.text.endswith("\r\n", start, end + 1))


def _cut(source: SourceText, start: int, end: int, span: Span) -> tuple[str, tuple[int, int]]:
    """The part of a line that is shown, and the columns of `span` in it."""
    span_end = min(span.end, end)
    first, last = start, end
    if end - start > _WIDTH:
        lead = (_WIDTH - min(span_end - span.start, _WIDTH)) // 2
        first = max(start, min(span.start - lead, end - _WIDTH))
        last = first + _WIDTH
    text = source.text[first:last]
    shown, columns = cells(text)
    marked = source.text[span.start : min(span_end, last)].rstrip()
    before = len(_CUT) if first > start else 0
    here = min(span.start - first, len(text))
    there = min(here + len(marked), len(text))
    shown = f"{_CUT if first > start else ''}{shown}{_CUT if last < end else ''}"
    return shown, (before + columns[here], before + columns[there])
