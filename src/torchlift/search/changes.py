"""What became another between two states of a project: of which questions the answers may differ."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from torchlift.notebook import is_notebook
from torchlift.search.asked import Asked
from torchlift.search.project_files import MOST_TEXT, changed_texts
from torchlift.search.records import Collector
from torchlift.search.vocabulary import Needle

if TYPE_CHECKING:
    from torchlift.project import Project

Text = TypeVar("Text", str, bytes)


class Changes:
    """What became another between two states of a project.

    Args:
        before: the earlier state.
        after: the later one; the same files with other texts.
        collectors: all whose records a rule may ask for, by name.
    """

    def __init__(self, before: Project, after: Project, collectors: Mapping[str, Collector]) -> None:
        self._before = before
        self._after = after
        self._collectors = collectors
        self._paths = changed_texts(before.overlay, after.overlay)
        self._known: dict[Hashable, bool] = {}
        self._ends: dict[str, tuple[int, int]] = {}

    def concern(self, asked: Asked) -> bool:
        """Whether an answer to one of these questions may be another now."""
        return (
            asked.unbounded
            or not self._paths.isdisjoint(asked.files)
            or any(self.rebinds(path) for path in self._paths & asked.names)
            or any(self._once((text, whole), partial(self._text, text, whole)) for text, whole in asked.texts)
            or any(self._once(text, partial(self._place, text)) for text in asked.places)
            or any(self._once(name, partial(self._record, name)) for name in asked.records)
            or any(self._once(fact, partial(self._fact, fact)) for fact in asked.facts)
            or any(self._once(key, partial(self._answer, *key)) for key in asked.answers)
            or any(self._once((key, "earlier"), partial(self._earlier, key)) for key in asked.earlier)
        )

    def rebinds(self, path: str) -> bool:
        """Whether names of a file may mean something else to others."""
        return path in self._paths and self._once((path,), partial(self._names, path))

    def _earlier(self, key: str) -> bool:
        """Whether what was taken over from an earlier run may be another."""
        return self.concern(self._after.asked_earlier(key))

    def _names(self, path: str) -> bool:
        before, after = self._before.bound_in(path), self._after.bound_in(path)
        return before is None or before != after

    def _once(self, question: Hashable, differs: Callable[[], bool]) -> bool:
        if question not in self._known:
            try:
                self._known[question] = differs()
            except Exception:
                self._known[question] = True  # whoever asks again is told what is wrong
        return self._known[question]

    def _text(self, text: bytes, whole: bool) -> bool:
        """Whether a text came into a file or went."""
        needle = Needle(text, whole=whole)
        for path in self._paths:
            before, after = self._before.data(path), self._after.data(path)
            start, end = self._same_ends(path)
            near = max(0, start - len(text))
            parts = (data[near : len(data) - max(0, end - len(text))] for data in (before, after))
            # Where it stands in neither of the parts that differ, it stands around them in both or in none.
            if any(text in part for part in parts) and needle.is_in(before) != needle.is_in(after):
                return True
        return False

    def _same_ends(self, path: str) -> tuple[int, int]:
        """How many bytes at the front and at the end of a changed file are the same in both states."""
        if path not in self._ends:
            self._ends[path] = same_ends(self._before.data(path), self._after.data(path))
        return self._ends[path]

    def _place(self, text: bytes) -> bool:
        """Whether a text may stand in other lines of a changed file."""
        return any(
            _places(text, self._before.data(path)) != _places(text, self._after.data(path))
            or (is_notebook(path) and (text in self._before.data(path) or text in self._after.data(path)))
            for path in self._paths
        )

    def _record(self, name: str) -> bool:
        """Whether a changed file has another record."""
        collector = self._collectors.get(name)
        if collector is None:
            return True
        return any(
            self._before.record(collector, path) != self._after.record(collector, path)
            for path in self._paths
            if self._after.is_python(path)
        )

    def _fact(self, fact: Callable[[str, bytes], Any]) -> bool:
        """Whether something else is told of the text of a changed file."""
        python = [path for path in self._paths if self._after.is_python(path)]
        return any(fact(path, self._before.data(path)) != fact(path, self._after.data(path)) for path in python)

    def _answer(self, answer: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
        """Whether a shared answer is another."""
        return bool(self._before.once(answer, *arguments) != self._after.once(answer, *arguments))


def same_ends(before: Text, after: Text) -> tuple[int, int]:
    """How much at the front and at the end of two texts is the same, without an overlap."""
    shorter = min(len(before), len(after))
    start = _largest(shorter, lambda size: before[:size] == after[:size])
    end = _largest(shorter - start, lambda size: before[len(before) - size :] == after[len(after) - size :])
    return start, end


def _largest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `most` for which something holds that holds for all smaller ones."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if holds(middle) else (least, middle - 1)
    return least


def _places(text: bytes, data: bytes) -> tuple[bool, bool, list[int]]:
    """Numbers of the lines in which a text stands, and what keeps a file from being searched."""
    lines = enumerate(data.split(b"\n"), 1) if text in data else ()
    return b"\0" in data[:1024], len(data) > MOST_TEXT, [number for number, line in lines if text in line]
