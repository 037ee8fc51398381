"""Answers about a project as a whole, worked out once for all files that ask, and what each of them was made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from torchlift.search.asked import Asked, Ear, Earlier, Question

Answer = TypeVar("Answer")


class SharedAnswers:
    """Answers in one state of a project.

    Args:
        ear: notes which of them are asked for; what they were made from is not asked by those who share them.
        before: those of earlier states, each with whether what an answer of that state was made from is the same now.

    Attributes:
        known: the answers, and what each was made from.
        earlier: what an earlier run knew.
        taken_from: the same in all states that come of one.
    """

    def __init__(self, ear: Ear, before: Sequence[tuple[SharedAnswers, Callable[[Asked], bool]]] = ()) -> None:
        self._ear = ear
        self._before = before
        self.earlier: Earlier | None = None
        self.taken_from: Earlier | None = next((answers.taken_from for answers, _ in before), None)
        self.known: dict[Question, tuple[Any, Asked]] = {}

    def forget_before(self) -> None:
        """Take nothing over from the earlier states any more: they need not be kept."""
        self._before = ()

    def once(self, question: Question, work: Callable[[], Answer]) -> Answer:
        """What `work` gives, worked out once for a function and its arguments."""
        if question not in self.known:
            found = self._from_before(question) or self._from_earlier(question)
            if question not in self.known:  # it may have been asked anew to be compared with the earlier one
                self.known[question] = found or self._ear.apart(work)
        self._ear.asked.answers.add(question)
        answer: Answer = self.known[question][0]
        return answer

    def _from_before(self, question: Question) -> tuple[Any, Asked] | None:
        told = ((answers.known.get(question), still) for answers, still in self._before)
        return next((known for known, still in told if known and self._ear.unheard(partial(still, known[1]))), None)

    def _from_earlier(self, question: Question) -> tuple[Any, Asked] | None:
        earlier = self.earlier
        return self._ear.unheard(lambda: earlier.answer(question)) if earlier is not None else None
