"""Views of files, as many as memory allows: of those that are still to be checked, and of those that were used last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from torchlift.source import SourceText
from torchlift.view import ModuleView

_MOST_TEXT = 1_800_000
_MOST_AWAITED = 1_450_000


class ViewCache:
    """Keeps views by the characters of their files: a view takes about forty times as many bytes.

    All states of a project share one. It has one view of a file, that of the text which was asked for last.
    """

    def __init__(self) -> None:
        self._awaited: set[str] = set()
        self._waiting: dict[str, ModuleView] = {}
        self._waiting_text = 0
        self._recent: OrderedDict[str, ModuleView] = OrderedDict()
        self._recent_text = 0
        self._new_texts: dict[str, SourceText] = {}

    def expect(self, paths: Iterable[str]) -> None:
        """These files are going to be checked, in the order of their paths: who parses one before keeps it for that."""
        self._awaited.update(paths)

    def done(self, path: str) -> None:
        """A file has been checked."""
        self._awaited.discard(path)
        view = self._waiting.pop(path, None)
        if view is not None:
            self._waiting_text -= len(view.source.text)
            self._add_recent(path, view)

    def get(self, path: str, new: SourceText | None = None) -> ModuleView | None:
        """The view of a file, with the text on disk or with a `new` one, if it is still there."""
        if self._new_texts.get(path) is not new:
            return None
        view = self._waiting.get(path)
        if view is None:
            view = self._recent.get(path)
            if view is not None:
                self._recent.move_to_end(path)
        return view

    def add(self, path: str, view: ModuleView, new: SourceText | None = None) -> None:
        """Keep the view of a file that was just parsed, with a `new` text or that on disk; others may go."""
        self._forget(path)
        if new is not None:
            self._new_texts[path] = new
        if path not in self._awaited:
            self._add_recent(path, view)
            return
        self._waiting[path] = view
        self._waiting_text += len(view.source.text)
        while self._waiting_text > _MOST_AWAITED:
            last = max(self._waiting)
            view = self._waiting.pop(last)
            self._waiting_text -= len(view.source.text)
            if last == path:
                self._add_recent(path, view)
        self._trim()

    def _forget(self, path: str) -> None:
        self._new_texts.pop(path, None)
        if (view := self._waiting.pop(path, None)) is not None:
            self._waiting_text -= len(view.source.text)
        if (view := self._recent.pop(path, None)) is not None:
            self._recent_text -= len(view.source.text)

    def _add_recent(self, path: str, view: ModuleView) -> None:
        self._recent[path] = view
        self._recent_text += len(view.source.text)
        self._trim()

    def _trim(self) -> None:
        while len(self._recent) > 1 and self._recent_text + self._waiting_text > _MOST_TEXT:
            _, dropped = self._recent.popitem(last=False)
            self._recent_text -= len(dropped.source.text)
