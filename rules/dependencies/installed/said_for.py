"""What a page says a command is for: a driver, a CUDA, a GPU. Such a line is not wrong because it is old."""

from __future__ import annotations

import re

from torchlift.dependencies.commands import is_code
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import TextView

_MEANT_FOR = lazy_pattern(
    r"(?<![\w-])cuda[ -]?(?:toolkit |version |v)?\d+(?:\.\d+)?|\bdrivers?\b|\bcompute capability\b|\b(?:[GR]TX|Tesla) ?\d*|\b[VAHP]100\b",
    re.IGNORECASE,
)
_FAILS = r"(?:\bincompatible|(?:\bnot|n['\u2019]t|\bno longer)(?: yet)? (?:support|compatible|work))"
_REMEDY = lazy_pattern(
    rf"\bdown-?grad(?:e|es|ed|ing)\b|(?:torch|cuda)\b(?:[^.]|\.\S){{0,60}}{_FAILS}|{_FAILS}[^.:]{{0,60}}(?:torch|cuda)\b",
    re.IGNORECASE,
)
_ITEM = lazy_pattern(r"\s*(?:[-*+]|\d+[.)])\s+")
_FENCE = lazy_pattern(r"\s*(?:```|~~~)")


def said_for(view: TextView, place: Span) -> str | None:
    """The words beside a command on a page that say for which hardware or CUDA it is; None where none do."""
    if view.kind != "markdown":
        return None
    found = _MEANT_FOR.search(_beside(view, place))
    return found[0].strip() if found else None


def is_remedy(view: TextView, place: Span) -> bool:
    """Whether a page offers a command against a trouble with newer releases: it is not wrong because it is old, either."""
    return view.kind == "markdown" and _REMEDY.search(_beside(view, place)) is not None


def _beside(view: TextView, place: Span) -> str:
    """The text that leads to a command, or stands around it."""
    text = view.source.text
    line = view.line_at(place.start)
    lines = text.splitlines(keepends=True)
    number = view.source.location(place.start)[0] - 1
    if line is not None and is_code(view, line):
        return _above(lines, number)
    return _paragraph(lines, number).replace(view.source.slice(place), " ")


def _above(lines: list[str], number: int) -> str:
    """The comments right above a line of a block of code, or the paragraph or title that leads to the block."""
    index = number - 1
    comments = []
    while index >= 0 and lines[index].lstrip().startswith("#"):
        comments.append(lines[index])
        index -= 1
    if comments:
        return " ".join(comments)
    while index >= 0 and lines[index].strip() and not _FENCE.match(lines[index]):
        index -= 1
    if index >= 0 and _FENCE.match(lines[index]):
        index -= 1
    while index >= 0 and not lines[index].strip():
        index -= 1
    return _paragraph(lines, index) if index >= 0 else ""


def _paragraph(lines: list[str], number: int) -> str:
    """The lines around one up to a blank line or another item of a list."""
    first = number
    while (
        first > 0 and lines[first - 1].strip() and not _ITEM.match(lines[first]) and not _FENCE.match(lines[first - 1])
    ):
        first -= 1
    last = number
    while last + 1 < len(lines) and lines[last + 1].strip() and not _ITEM.match(lines[last + 1]):
        last += 1
    return "".join(lines[first : last + 1])
