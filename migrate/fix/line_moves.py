"""Which lines of a text became which of a later one."""

from __future__ import annotations

from torchlift.source import SourceText


class LineMoves:
    """Lines of two texts of one file, counted from one.

    Args:
        before: the one.
        after: the later one.
    """

    def __init__(self, before: SourceText, after: SourceText) -> None:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, _lines(before), _lines(after), autojunk=False)
        self._blocks = matcher.get_opcodes()

    def before(self, line: int) -> range:
        """The lines of the former text that may have become `line` of the later one."""
        for tag, start, end, first, last in self._blocks:
            if first < line <= last:
                return (
                    range(start + line - first, start + line - first + 1)
                    if tag == "equal"
                    else range(start + 1, end + 1)
                )
        return range(0)

    def is_kept(self, line: int) -> bool:
        """Whether `line` of the later text stood in the former one, as it is."""
        return any(tag == "equal" and first < line <= last for tag, _, _, first, last in self._blocks)

    def above(self, line: int) -> int | None:
        """The line of the former text behind which `line` of the later one was inserted, None if it was not."""
        for _, start, end, first, last in self._blocks:
            if first < line <= last:
                return start if start == end else None
        return None

    def twin(self, line: int) -> int | None:
        """The line that became `line`, as far as lines that changed in a row kept their number."""
        for _, start, end, first, last in self._blocks:
            if first < line <= last and end - start == last - first:
                return start + line - first
        return None


def _lines(source: SourceText) -> list[str]:
    return [source.line(number) for number in range(1, len(source.line_starts) + 1)]
