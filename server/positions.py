"""Places in a text as the protocol counts them: lines from 0, and in a line the code units that the editor has chosen.

Language Server Protocol 3.17, "Position": lines end with `\\n`, `\\r\\n` or `\\r` and with nothing else, read 2026-11-24.
Python's `str.splitlines` knows form feeds and others besides, of which source files have some.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

_LINE_END = re.compile(r"\r\n|\r|\n")
_BEYOND = "\uffff"
_UNITS = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": lambda text: len(text) + sum(letter > _BEYOND for letter in text),
    "utf-32": len,
}


class Positions:
    """Offsets in characters of one text, and positions in it.

    Args:
        text: the whole text.
        encoding: `utf-8`, `utf-16` or `utf-32`, as agreed on with the editor.
    """

    def __init__(self, text: str, encoding: str) -> None:
        self._text = text
        self._units = _UNITS[encoding]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self._text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and code unit of an offset; of one behind the end, those of the end."""
        offset = min(max(offset, 0), len(self._text))
        line = bisect_right(self._starts, offset) - 1
        return line, self._units(self._text[self._starts[line] : offset])

    def offset(self, line: int, unit: int) -> int:
        """The offset of a position; one behind the end of its line is the end of the line, as the protocol says."""
        if line >= len(self._starts):
            return len(self._text)
        start = self._starts[line]
        end = _LINE_END.search(self._text, start)
        stop = end.start() if end is not None else len(self._text)
        counted = 0
        for at in range(start, stop):
            if counted >= unit:
                return at
            counted += self._units(self._text[at])
        return stop
