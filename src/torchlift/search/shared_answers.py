"""Answers about a project as a whole, worked out once for all files that ask, and what each of them was made from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from torchlift.search.asked import Asked, Ear, Earlier, Question

Answer = TypeVar("Answer")


class SharedAnswers:
    """Answers in one state of a project.

    Args:
        ear: notes which of them are asked for; what they were made from is not asked by those who share them.
        before: those of an earlier state.
        still: whether what an answer of that state was made from is the same now.

    Attributes:
        known: the answers, and what each was made from.
        earlier: what an earlier run knew.
    """

    def __init__(
        self, ear: Ear, before: SharedAnswers | None = None, still: Callable[[Asked], bool] = lambda asked: False
    ) -> None:
        self._ear = ear
        self._before = before
        self._still = still
        self.earlier: Earlier | None = None
        self.known: dict[Question, tuple[Any, Asked]] = {}

    def forget_before(self) -> None:
        """Take nothing over from the earlier state any more: it need not be kept."""
        self._before = None

    def once(self, question: Question, work: Callable[[], Answer]) -> Answer:
        """What `work` gives, worked out once for a function and its arguments."""
        if question not in self.known:
            self.known[question] = self._from_before(question) or self._from_earlier(question) or self._ear.apart(work)
        self._ear.asked.answers.add(question)
        answer: Answer = self.known[question][0]
        return answer

    def _from_before(self, question: Question) -> tuple[Any, Asked] | None:
        known = self._before.known.get(question) if self._before is not None else None
        return known if known is not None and self._ear.unheard(partial(self._still, known[1])) else None

    def _from_earlier(self, question: Question) -> tuple[Any, Asked] | None:
        earlier = self.earlier
        return self._ear.unheard(lambda: earlier.answer(question)) if earlier is not None else None

    def beneath(self, asked: Asked) -> Asked:
        """What the answers were made from that were asked for, and those that they asked for in turn."""
        found, pending, seen = Asked(), list(asked.answers), set(asked.answers)
        while pending:
            below = self.known[pending.pop()][1]
            found.add(below)
            pending += below.answers - seen
            seen |= below.answers
        found.answers = set()
        return found
