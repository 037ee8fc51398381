"""Lines of a call that stand under its bracket: they move with the bracket, where a name in front of it got longer or shorter."""

from __future__ import annotations

import io
import tokenize
from bisect import bisect_right
from collections.abc import Sequence

from torchlift.finding import TextEdit
from torchlift.source import SourceText, Span

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_BLANK = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


def moved_lines(source: SourceText, edits: Sequence[TextEdit]) -> list[TextEdit]:
    """Edits of the white space in front of lines that `edits` would leave beside the column of their bracket."""
    text, starts = source.text, source.line_starts
    if "\r" in text.replace("\r\n", ""):
        return []  # lines of old systems, which `tokenize` does not count
    changes: dict[int, list[tuple[int, int]]] = {}  # by line, column of the end and what is added
    for edit in edits:
        row = bisect_right(starts, edit.span.start) - 1
        change = len(edit.text) - (edit.span.end - edit.span.start)
        if change and "\n" not in edit.text and "\n" not in source.slice(edit.span) and edit.span.start < edit.span.end:
            changes.setdefault(row, []).append((edit.span.end - starts[row], change))
    found: dict[int, int] = {}
    for row, ends in sorted(changes.items()):
        line = text[starts[row] : starts[row + 1] if row + 1 < len(starts) else len(text)]
        if row not in found and not _OPENING.isdisjoint(line[ends[0][0] :]):
            found.update(_shifts(text, starts, row, changes))
    moved = [_indented(text, starts[row], shift) for row, shift in found.items() if shift]
    taken = [edit.span for edit in edits]
    return [
        edit
        for edit in moved
        if edit is not None
        and not any(other.start <= edit.span.end and edit.span.start <= other.end for other in taken)
    ]


def _shifts(text: str, starts: Sequence[int], first: int, changes: dict[int, list[tuple[int, int]]]) -> dict[int, int]:
    """By how much each line of the statement from line `first` on has to move; empty where it cannot be read."""
    shifts: dict[int, int] = {}
    brackets: list[tuple[int, int]] = []  # column, and by how much it moves
    last = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text[starts[first] :]).readline):
            if token.type in _BLANK:
                if token.type == tokenize.NEWLINE:
                    return shifts
                continue
            row, column = token.start[0] + first - 1, token.start[1]
            if row > last and row > first:
                beside = column - brackets[-1][0] if brackets else -1
                under = beside == 1 or (beside == 0 and token.string in _CLOSING)
                shifts[row] = brackets[-1][1] if under else 0
            last = max(last, token.end[0] + first - 1)
            if token.string in _OPENING:
                moved = sum(change for end, change in changes.get(row, ()) if end <= column)
                brackets.append((column, shifts.get(row, 0) + moved))
            elif token.string in _CLOSING:
                if not brackets:
                    return shifts
                brackets.pop()
    except (tokenize.TokenError, IndentationError):
        return {}
    return shifts


def _indented(text: str, start: int, shift: int) -> TextEdit | None:
    if shift > 0:
        return TextEdit(Span(start, start), " " * shift) if text[start] == " " else None
    return TextEdit(Span(start, start - shift), "") if text.startswith(" " * -shift, start) else None
