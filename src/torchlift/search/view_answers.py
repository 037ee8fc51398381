"""Answers about one view, which may name nodes of its tree: kept as long as the view is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from torchlift.search.asked import Asked, Ear
from torchlift.view import ModuleView

Answer = TypeVar("Answer")


class ViewAnswers:
    """Answers in one state of a project.

    Args:
        ear: notes what an answer rests on, also for those who get it later.
        before: those of earlier states, each with whether what an answer of that state rests on is the same now.
    """

    def __init__(self, ear: Ear, before: Sequence[tuple[ViewAnswers, Callable[[Asked], bool]]] = ()) -> None:
        self._ear = ear
        self._before = before
        # Made when needed: it cannot be sent to another process.
        self._known: WeakKeyDictionary[ModuleView, dict[Callable[..., Any], tuple[Any, Asked]]] | None = None

    def forget_before(self) -> None:
        """Take nothing over from the earlier states any more: they need not be kept."""
        self._before = ()

    def once(self, question: Callable[..., Any], view: ModuleView, work: Callable[[], Answer]) -> Answer:
        """What `work` gives, worked out once for a question about a view."""
        if self._known is None:
            self._known = WeakKeyDictionary()
        known = self._known.setdefault(view, {})
        if question not in known and (earlier := self._from_before(question, view)) is not None:
            known[question] = earlier
        if question not in known:
            with self._ear.listening() as asked:
                known[question] = work(), asked
        else:
            self._ear.asked.add(known[question][1])
        found: Answer = known[question][0]
        return found

    def _from_before(self, question: Callable[..., Any], view: ModuleView) -> tuple[Any, Asked] | None:
        told = (
            (answers._known.get(view, {}).get(question), still) for answers, still in self._before if answers._known
        )
        return next((known for known, still in told if known and self._ear.unheard(partial(still, known[1]))), None)
