"""Answers about one view, which may name nodes of its tree: kept as long as the view is."""

from __future__ import annotations

from collections.abc import Callable
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
        before: those of an earlier state.
        still: whether what an answer of that state rests on is the same now.
    """

    def __init__(
        self, ear: Ear, before: ViewAnswers | None = None, still: Callable[[Asked], bool] = lambda asked: False
    ) -> None:
        self._ear = ear
        self._before = before
        self._still = still
        # Made when needed: it cannot be sent to another process.
        self._known: WeakKeyDictionary[ModuleView, dict[Callable[..., Any], tuple[Any, Asked]]] | None = None

    def forget_before(self) -> None:
        """Take nothing over from the earlier state any more: it need not be kept."""
        self._before = None

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
        if self._before is None or self._before._known is None:
            return None
        known = self._before._known.get(view, {}).get(question)
        return known if known is not None and self._ear.unheard(partial(self._still, known[1])) else None
