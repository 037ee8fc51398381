"""Answers about one view, which may name nodes of its tree: kept as long as the view is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from torchlift.search.asked import Asked, Ear
from torchlift.view import ModuleView

Answer = TypeVar("Answer")


class ViewAnswers:
    """Answers in one state of a project.

    Args:
        ear: notes what an answer rests on, also for those who get it later.
    """

    def __init__(self, ear: Ear) -> None:
        self._ear = ear
        # Made when needed: it cannot be sent to another process.
        self._known: WeakKeyDictionary[ModuleView, dict[Callable[..., Any], tuple[Any, Asked]]] | None = None

    def once(self, question: Callable[..., Any], view: ModuleView, work: Callable[[], Answer]) -> Answer:
        """What `work` gives, worked out once for a question about a view."""
        if self._known is None:
            self._known = WeakKeyDictionary()
        known = self._known.setdefault(view, {})
        if question not in known:
            with self._ear.listening() as asked:
                known[question] = work(), asked
        else:
            self._ear.asked.add(known[question][1])
        found: Answer = known[question][0]
        return found
