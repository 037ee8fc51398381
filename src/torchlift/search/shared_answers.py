"""Answers about a project as a whole, worked out once for all files that ask, and what each of them was made from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from torchlift.search.asked import Asked, Ear

Answer = TypeVar("Answer")
_Question = tuple[Callable[..., Any], tuple[Any, ...]]


class SharedAnswers:
    """Answers in one state of a project.

    Args:
        ear: notes which of them are asked for; what they were made from is not asked by those who share them.
    """

    def __init__(self, ear: Ear) -> None:
        self._ear = ear
        self._known: dict[_Question, tuple[Any, Asked]] = {}

    def once(self, question: _Question, work: Callable[[], Answer]) -> Answer:
        """What `work` gives, worked out once for a function and its arguments."""
        if question not in self._known:
            self._known[question] = self._ear.apart(work)
        self._ear.asked.answers.add(question)
        answer: Answer = self._known[question][0]
        return answer

    def beneath(self, asked: Asked) -> Asked:
        """What the answers were made from that were asked for, and those that they asked for in turn."""
        found, pending, seen = Asked(), list(asked.answers), set(asked.answers)
        while pending:
            below = self._known[pending.pop()][1]
            found.add(below)
            pending += below.answers - seen
            seen |= below.answers
        found.answers = set()
        return found
