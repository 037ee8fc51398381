"""Spans of a file that many others are compared with, found by their place and not one after the other."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate

from torchlift.source import Span


class Areas:
    """Spans, of which some may lie inside others."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._added: list[Span] = []
        self._sort(spans)

    def __bool__(self) -> bool:
        return bool(self._spans or self._added)

    def add(self, span: Span) -> None:
        """Take one more in."""
        self._added.append(span)
        if len(self._added) > 32:
            self._sort((*self._spans, *self._added))
            self._added.clear()

    def contain(self, span: Span) -> bool:
        """Whether `span` lies inside of one, or is one."""
        at = bisect_right(self._starts, span.start)
        return (at > 0 and self._furthest[at - 1] >= span.end) or any(area.contains(span) for area in self._added)

    def cover(self, span: Span) -> bool:
        """Whether `span` lies inside of one that is not the same; between two characters of it if it is empty."""
        if any(_covers(area, span) for area in self._added):
            return True
        before = bisect_left(self._starts, span.start)
        furthest = self._furthest[before - 1] if before else -1
        if span.start == span.end:
            return furthest > span.start
        after = bisect_right(self._starts, span.start)
        return furthest >= span.end or (after > before and self._spans[after - 1].end > span.end)

    def _sort(self, spans: Iterable[Span]) -> None:
        self._spans = sorted(set(spans), key=lambda span: (span.start, span.end))
        self._starts = [span.start for span in self._spans]
        self._furthest = list(accumulate((span.end for span in self._spans), max))


def _covers(outer: Span, inner: Span) -> bool:
    if inner.start == inner.end:
        return outer.start < inner.start < outer.end
    return outer != inner and outer.contains(inner)
