"""What a text is about: every known error in it by its first place, and which of them came first."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

from torchlift.doctor.errors.known_error import KnownError, Level
from torchlift.doctor.errors.lines import Chunk, Line, cleaned
from torchlift.doctor.errors.matching import candidates, expression, vocabulary, worded
from torchlift.doctor.errors.table import KNOWN
from torchlift.lazy_dataclass import dataclass

_BEFORE = 3
_AFTER = 10
"""Lines that are looked at together with one that has a word of a known error: terminals and boxes wrap messages."""
_LONGEST_QUOTE = 300
_MOST_UNKNOWN = 3

_ENDINGS = ("Error", "Exception", "Exit", "Interrupt", "Failed", "Unsupported")
_RAISED = re.compile(r"(?:[A-Za-z_]\w{0,60}\.){0,8}\w{0,60}(?:" + "|".join(_ENDINGS) + r")(?:: ?.{0,300})?$")
_REMARK = re.compile(r"[A-Z]\w{2,40}Warning\b|\bWARN(?:ING)?\b|\bINFO\b|^[Ww]arning:")
"""What packages say in passing: of a general row it is the cause of nothing that has another one, be it vague."""
_LINE_END = re.compile(r"\n")

Verdict = Literal["known", "warning", "unknown"]
"""`warning`: nothing but remarks for which no program stops. `unknown`: none, or none that explains the first error."""


@dataclass(frozen=True)
class Place:
    """Where something stands in the text."""

    line: int
    """From 1."""
    rank: int | None
    """Of the process that wrote it, where a launcher marked the line."""
    text: str
    """The line, shortened."""


@dataclass(frozen=True)
class Recognised:
    """A known error and its first place."""

    row: KnownError
    place: Place


@dataclass(frozen=True)
class Assessment:
    """What is known about a text."""

    verdict: Verdict
    first: Recognised | None
    """What came first of what stops a program, else the first remark; None when there is nothing known."""
    others: tuple[Recognised, ...]
    """Everything else that is known, by place."""
    unexplained: tuple[Place, ...]
    """Exceptions that no row explains: the first ones."""
    lines: int
    """How many lines the text has."""


def first_cause(chunks: Iterable[Chunk]) -> Assessment:
    """Search a text, in memory that does not grow with it."""
    search = _Search()
    for chunk in chunks:
        search.add(chunk)
    return search.finding()


class _Search:
    def __init__(self) -> None:
        self._left = [row for row in KNOWN if not row.smokes_only]
        self._found: list[Recognised] = []
        self._unexplained: list[Place] = []
        self._last = 0

    def add(self, chunk: Chunk) -> None:
        """Look through a part of the text."""
        self._last = chunk.first + chunk.text.count("\n") - chunk.text.endswith("\n")
        different = vocabulary(chunk.text)
        rows = dict(candidates(different, self._left))
        anchors = {anchor for found in rows.values() for anchor in found}
        if len(self._unexplained) < _MOST_UNKNOWN:
            anchors |= {ending for ending in _ENDINGS if ending in different}
        if not anchors:
            return
        lines = _lines_around(chunk, anchors)
        text = "\n".join(line.text for line in lines)
        starts = _Starts(lines)
        for row in rows:
            match = expression(row).search(text)
            if match is not None:
                self._left.remove(row)
                self._found.append(
                    Recognised(worded(row, match, chunk.text), starts.place(_raised(match), match.end()))
                )
        self._note_unexplained(lines, chunk.first + chunk.text.count("\n", 0, chunk.new))

    def _note_unexplained(self, lines: Sequence[Line], new: int) -> None:
        for index, line in enumerate(lines):
            if len(self._unexplained) == _MOST_UNKNOWN:
                return
            if line.number < new or not _RAISED.match(line.text[:400]):
                continue
            following = "\n".join(_message(lines, index))
            is_known = _is_explained(following, "cause") or _is_explained(line.text[:400], "vague")
            quote = line.text[:_LONGEST_QUOTE]
            if not is_known and quote not in [place.text for place in self._unexplained]:
                self._unexplained.append(Place(line.number, line.rank, quote))

    def finding(self) -> Assessment:
        order = {row.id: index for index, row in enumerate(KNOWN)}
        found = sorted(self._found, key=lambda each: (each.place.line, order[each.row.id]))
        named = {each.place.line for each in found if not each.row.general and each.row.level != "vague"}
        found = [each for each in found if not each.row.general or each.place.line not in named]
        levels = {level: [each for each in found if each.row.level == level] for level in ("cause", "vague", "warning")}
        exact = [each for each in levels["cause"] if not each.row.general]
        spoken = [each for each in levels["cause"] if not each.row.general or not _REMARK.search(each.place.text)]
        stops = exact or spoken or levels["vague"] or levels["cause"]
        first = next(iter(stops or levels["warning"]), None)
        verdict: Verdict = "unknown" if first is None else "known" if stops else "warning"
        named |= {each.place.line for each in levels["cause"]}
        unexplained = tuple(place for place in self._unexplained if place.line not in named)
        if unexplained and not exact and not (levels["cause"] and _is_raised_first(stops[0], unexplained)):
            # Something that is not known came to pass, and what is known does not say why.
            verdict = "unknown"
        others = tuple(each for each in found if each is not first and not _on_the_line_of(first, each))
        return Assessment(verdict, first, others, unexplained, self._last)


def _is_raised_first(found: Recognised, unexplained: Iterable[Place]) -> bool:
    """Whether it is an exception before all that are not explained: an optional module may be missing without harm."""
    is_raised = _RAISED.match(found.place.text) is not None
    return is_raised and all(found.place.line < place.line for place in unexplained)


def _raised(match: re.Match[str]) -> int:
    """Where the error itself stands: a pattern may begin at the frame that raised it."""
    return match.start("raised") if "raised" in match.re.groupindex else match.start()


def _on_the_line_of(first: Recognised | None, other: Recognised) -> bool:
    """One line has one cause, and the earlier row of the table is the more exact; a very long line may be a whole log."""
    return first is not None and first.place.line == other.place.line and len(first.place.text) < _LONGEST_QUOTE


def _message(lines: Sequence[Line], index: int) -> Iterator[str]:
    """The lines of an exception: its own and those behind it, up to the next one."""
    yield lines[index].text[:400]
    for line in lines[index + 1 : index + _AFTER]:
        if _RAISED.match(line.text[:400]):
            return
        yield line.text[:400]


def _lines_around(chunk: Chunk, anchors: Iterable[str]) -> list[Line]:
    """The lines that have one of the words, and those around them; between parts stands a line that nothing matches."""
    ends = [match.start() for match in _LINE_END.finditer(chunk.text)]
    wanted: set[int] = set()
    for anchor in anchors:
        position = chunk.text.find(anchor)
        while position >= 0:
            index = bisect_left(ends, position)
            wanted.update(range(max(index - _BEFORE, 0), min(index + _AFTER, len(ends)) + 1))
            position = chunk.text.find(anchor, ends[index]) if index < len(ends) else -1
    starts = [0, *(end + 1 for end in ends)]
    ends.append(len(chunk.text))
    lines: list[Line] = []
    numbers = sorted(wanted)
    begin = 0
    for index, number in enumerate(numbers):
        if index + 1 == len(numbers) or numbers[index + 1] != number + 1:
            part = numbers[begin : index + 1]
            raw = [chunk.text[starts[each] : ends[each]] for each in part]
            lines += cleaned(raw, [chunk.first + each for each in part])
            lines.append(Line(chunk.first + number, "\0", None))
            begin = index + 1
    return lines


@lru_cache(maxsize=4096)
def _is_explained(text: str, level: Level) -> bool:
    rows = (row for row in KNOWN if row.level == level and not row.smokes_only)
    return any(expression(row).search(text) for row, _ in candidates(vocabulary(text), rows))


class _Starts:
    """Where the lines of a joined text begin."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._offsets: list[int] = []
        offset = 0
        for line in lines:
            self._offsets.append(offset)
            offset += len(line.text) + 1

    def place(self, start: int, end: int) -> Place:
        index = bisect_right(self._offsets, start) - 1
        line = self._lines[index]
        return Place(line.number, line.rank, _around(line.text, start - self._offsets[index], end - start))


def _around(text: str, start: int, length: int) -> str:
    """The part of a line around a match."""
    if len(text) <= _LONGEST_QUOTE:
        return text
    begin = max(0, min(start - 80, len(text) - _LONGEST_QUOTE))
    cut = text[begin : begin + max(_LONGEST_QUOTE, min(length, _LONGEST_QUOTE) + 80)]
    return f"{'...' if begin else ''}{cut}{'...' if begin + len(cut) < len(text) else ''}"
