"""Long lines of a Python text, broken at the commas of their outermost brackets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

_WIDTH = 100
_OPEN, _CLOSE = "([{", ")]}"


def broken(text: str) -> str:
    """The text with lines of up to 100 columns, where brackets allow it."""
    return "\n".join(made for line in text.split("\n") for made in _lines(line))


def _lines(line: str) -> Iterator[str]:
    span = _outermost(line) if len(line) > _WIDTH and '"""' not in line else None
    if span is None:
        yield line
        return
    start, end, commas = span
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    yield line[: start + 1]
    places = [start, *commas, end]
    for before, after in pairwise(places):
        part = line[before + 1 : after].strip()
        if part:
            yield from _lines(f"{indent}{part},")
    yield from _lines(f"{indent[4:]}{line[end:]}")


def _outermost(line: str) -> tuple[int, int, list[int]] | None:
    """Place of the last bracket that is opened on the outermost level and holds something, its end, its commas."""
    depth, start, quote = 0, 0, ""
    commas: list[int] = []
    best: tuple[int, int, list[int]] | None = None
    place = 0
    while place < len(line):
        letter = line[place]
        if quote:
            place += letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in _OPEN:
            depth += 1
            if depth == 1:
                start, commas = place, []
        elif letter in _CLOSE:
            depth -= 1
            if depth == 0 and place - start > 1 and _may_break(line, start, place, commas):
                best = max(best or (start, start, []), (start, place, commas), key=lambda one: one[1] - one[0])
        elif letter == "," and depth == 1:
            commas.append(place)
        place += 1
    return best


def _may_break(line: str, start: int, end: int, commas: list[int]) -> bool:
    """Whether a comma behind the last item changes nothing: not in a subscript, nor in brackets around one value."""
    called = line[start] == "(" and start and (line[start - 1].isalnum() or line[start - 1] in "_)]")
    listed = line[start] in "[{" and not (start and (line[start - 1].isalnum() or line[start - 1] in "_)]"))
    return bool(called or listed or (line[start] == "(" and commas))
