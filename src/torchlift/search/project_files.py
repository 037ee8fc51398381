"""The bytes of a project's files: read once, as far as memory allows, and searched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from torchlift.file_bytes import file_bytes
from torchlift.notebook import is_notebook, searched
from torchlift.search.vocabulary import Needle, Vocabularies, encoded, vocabulary, words_in
from torchlift.source import SourceText, UnreadableSource

_KEPT_BYTES = 12_000_000
_KEPT_WORDS = 12_000_000
_KEPT_NOTEBOOKS = 4_000_000
_KEPT_WORDS_OF_TEXTS = 4_000_000
_SEARCHES_THAT_PAY = 6
"""To take files apart costs as much as some searches through their bytes; who searches this often goes on."""
MOST_TEXT = 1_000_000
_NEVER_TEXT = tuple(
    ".pt .pt2 .pth .bin .safetensors .npy .npz .png .jpg .jpeg .gif .so .pyc .zip .gz .whl .pdf".split()
)
Fact = TypeVar("Fact")
# Hidden folders in which commands of a project stand.
_OF_CI = frozenset(
    ".github .gitlab .circleci .buildkite .azure .azure-pipelines .azuredevops .jenkins .ci .ci_scripts .devcontainer .docker .devops .semaphore "
    ".woodpecker .drone .tekton .dagger".split()
)
_NOT_ENTERED = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "build", "dist"})


class ProjectFiles:
    """Files of a project in one state.

    Args:
        root: its folder.
        files: its Python files, relative to `root`, sorted.
        overlay: new texts of files that have been changed but not written.
        before: the files in an earlier state; what is known of them still holds for those that are not in `overlay`.
    """

    def __init__(
        self,
        root: Path,
        files: tuple[str, ...],
        overlay: Mapping[str, SourceText],
        before: ProjectFiles | None = None,
    ) -> None:
        self._root = root
        self._folder = f"{root}{os.sep}"
        self._files = files
        self._python = frozenset(files)
        self._overlay = overlay
        self._bytes: dict[str, bytes] = {}
        self._size = 0
        self._notebooks: dict[str, bytes] = {}
        self._notebooks_size = 0
        self._vocabularies = Vocabularies()
        self._holding: dict[tuple[tuple[bytes, bool], ...], list[str]] = {}
        self._places: dict[str, list[str]] = {}
        self._words_of_texts = Vocabularies()
        self._listed: list[str] | None = None
        # What was found in earlier states, and the files whose texts have changed since.
        self._held_before: Mapping[tuple[tuple[bytes, bool], ...], list[str]] = {}
        self._placed_before: Mapping[str, list[str]] = {}
        self._noted: dict[Callable[[str, bytes], Any], Mapping[str, Any]] = {}
        self._noted_before: Mapping[Callable[[str, bytes], Any], Mapping[str, Any]] = {}
        self._changed: frozenset[str] = frozenset()
        self._wordless: tuple[int, list[str]] | None = None
        if before is not None:
            self._bytes = {path: data for path, data in before._bytes.items() if path not in overlay}
            self._size = before._size
            self._notebooks = {path: data for path, data in before._notebooks.items() if path not in overlay}
            self._notebooks_size = sum(map(len, self._notebooks.values()))
            self._vocabularies = before._vocabularies
            self._words_of_texts = before._words_of_texts
            if before._files == files:
                self._take_over(before)

    def _take_over(self, before: ProjectFiles) -> None:
        self._held_before = {**before._held_before, **before._holding}
        self._placed_before = {**before._placed_before, **before._places}
        self._noted_before = {**before._noted_before, **before._noted}
        self._changed = before._changed | changed_texts(before._overlay, self._overlay)
        listed = frozenset(before._listed or ())
        with suppress(OSError):
            if all((path in listed) == (self.size(path) <= MOST_TEXT) for path in self._changed):
                self._listed = before._listed

    def __getstate__(self) -> dict[str, Any]:
        """For another process: it reads the files it needs itself."""
        return {**self.__dict__, "_bytes": {}, "_size": 0, "_notebooks": {}, "_notebooks_size": 0}

    def remember(self, path: str, words: bytes) -> None:
        """Search the vocabulary of a Python file, and not the file itself, if there is room for it."""
        if path not in self._overlay and len(self._vocabularies) + len(words) <= _KEPT_WORDS:
            self._vocabularies.add(path, words)

    def _remember_others(self) -> None:
        """Take those files apart, too, whose words are not known: at once where those of most files are, else when so much has been
        searched for, in all states, that it pays.
        """
        if self._vocabularies.is_whole:
            return
        others = [path for path in self._files if path not in self._vocabularies and path not in self._overlay]
        pays = len(self._holding.keys() | self._held_before.keys()) >= _SEARCHES_THAT_PAY
        if pays or (not self._holding and 2 * len(others) < len(self._files)):
            self._vocabularies.is_whole = True
            for path in others:
                with suppress(OSError):
                    self.remember(path, vocabulary(words_in(self.data(path))))

    def data(self, path: str) -> bytes:
        """Current bytes of a file.

        Raises:
            OSError: it cannot be read.
        """
        kept = self._bytes.get(path)
        if kept is not None:
            return kept
        changed = self._overlay.get(path)
        if changed is not None:
            return changed.searched()
        if is_notebook(path):
            return self._notebook(path)
        data = self.on_disk(path)
        if path in self._python:
            self._keep(path, data)
        return data

    def _notebook(self, path: str) -> bytes:
        """The Python of a notebook: far less than its file, and dear to take out of it."""
        data = self._notebooks.get(path)
        if data is None:
            data = self.on_disk(path)
            with suppress(UnreadableSource):  # it is reported where it is analysed
                data = searched(data)
            if self._notebooks_size + len(data) <= _KEPT_NOTEBOOKS:
                self._notebooks[path] = data
                self._notebooks_size += len(data)
        return data

    def on_disk(self, path: str) -> bytes:
        """Bytes of a file that has not been changed; of a notebook `data` is only the Python in it.

        Raises:
            OSError: it cannot be read.
        """
        kept = None if is_notebook(path) else self._bytes.get(path)
        return file_bytes(f"{self._folder}{path}") if kept is None else kept

    def _keep(self, path: str, data: bytes) -> None:
        """Keep the bytes of a file for the next question, unless there are too many for all: a part of them is no use."""
        self._size += len(data)
        if self._size <= _KEPT_BYTES:
            self._bytes[path] = data
        else:
            self._bytes.clear()

    def size(self, path: str) -> int:
        """Bytes of a file.

        Raises:
            OSError: it cannot be read.
        """
        if path in self._overlay or path in self._bytes:
            return len(self.data(path))
        return os.stat(f"{self._folder}{path}").st_size  # noqa: PTH116 - a Path costs more than the call

    def holding(self, words: Iterable[str], whole: bool = False) -> list[str]:
        """Python files in which any of `words` stands, wherever or as a word of its own."""
        return self._holding_any([Needle(encoded(word), whole=whole) for word in sorted(words)])

    def naming(self, name: str) -> list[str]:
        """Python files in which a name stands, as a word of its own."""
        return self._holding_any([Needle(encoded(name), whole=True)])

    def _holding_any(self, needles: list[Needle]) -> list[str]:
        key = tuple((needle.text, needle.whole) for needle in needles)
        if key not in self._holding:
            earlier = self._held_before.get(key)
            found = self._now_holding(needles) if earlier is None else set(earlier) - self._changed
            if earlier is not None:
                found |= {path for path in self._changed & self._python if self._holds_any(path, needles)}
            self._holding[key] = sorted(found, key=self._order.__getitem__)
        return self._holding[key]

    def _now_holding(self, needles: list[Needle]) -> set[str]:
        self._remember_others()
        found = {path for needle in needles for path in self._searched(needle)}
        found.update(path for path in self._without_words() if self._holds_any(path, needles))
        return found

    def _without_words(self) -> list[str]:
        """Files whose words are not known as they are now."""
        if self._wordless is None or self._wordless[0] != len(self._vocabularies):
            others = [path for path in self._files if not self._has_words(path)]
            self._wordless = len(self._vocabularies), others
        return self._wordless[1]

    @cached_property
    def _order(self) -> dict[str, int]:
        return {path: number for number, path in enumerate(self._files)}

    def holds(self, path: str, needle: Needle) -> bool:
        """Whether a text stands in one file.

        Raises:
            OSError: it cannot be read.
        """
        if self._has_words(path):
            return self._vocabularies.may_hold(path, needle) and (needle.is_word or needle.is_in(self.data(path)))
        return needle.is_in(self.data(path))

    def _has_words(self, path: str) -> bool:
        """Whether the words of a file are known as they are now."""
        return path in self._vocabularies and path not in self._overlay

    def _searched(self, needle: Needle) -> Iterator[str]:
        """Those files that hold a text among them whose words are known."""
        for path in self._vocabularies.holding(needle):
            if path not in self._overlay and (needle.is_word or self._holds_any(path, (needle,))):
                yield path

    def _holds_any(self, path: str, needles: Iterable[Needle]) -> bool:
        try:
            data = self.data(path)
        except OSError:
            return False
        return any(needle.is_in(data) for needle in needles)

    def noted(self, fact: Callable[[str, bytes], Fact]) -> Mapping[str, Fact]:
        """What `fact` tells of the path and the bytes of each Python file that can be read; asked again of changed files only."""
        if fact not in self._noted:
            earlier = self._noted_before.get(fact)
            asked = self._files if earlier is None else self._changed & self._python
            now = dict(earlier or {})
            for path in asked:
                now.pop(path, None)
                with suppress(OSError):
                    now[path] = fact(path, self.data(path))
            self._noted[fact] = now
        return self._noted[fact]

    def places(self, words: tuple[str, ...]) -> dict[str, list[str]]:
        """`path:line` of every place in the project's text files that holds one of `words`, by word.

        Folders that never hold a project's own text (version control, environments, build output) are not entered.
        """
        missing = [word for word in words if word not in self._places]
        earlier = [word for word in missing if word in self._placed_before]
        self._find_places([word for word in missing if word not in self._placed_before], self._texts)
        for word in earlier:
            places = self._placed_before[word]
            self._places[word] = [place for place in places if place.rpartition(":")[0] not in self._changed]
        self._find_places(earlier, lambda: [path for path in self._texts() if path in self._changed])
        if earlier and self._changed:
            order = {path: number for number, path in enumerate(self._texts())}
            for word in earlier:
                self._places[word].sort(key=lambda place: order[place.rpartition(":")[0]])
        return {word: self._places[word] for word in words}

    def _find_places(self, words: list[str], texts: Callable[[], list[str]]) -> None:
        """Add the places of words in some of the text files."""
        if not words:
            return
        needles = {word: Needle(encoded(word)) for word in words}
        paths = texts()
        known = {path for path in paths if self._knows_words(path)}
        vocabularies = (self._vocabularies, self._words_of_texts) if known else ()
        holding = {
            word: {path for one in vocabularies for path in one.holding(needle)} for word, needle in needles.items()
        }
        is_again = bool(self._places)
        for word in words:
            self._places.setdefault(word, [])
        for path in paths:
            asked = {word: one.text for word, one in needles.items() if path not in known or path in holding[word]}
            if asked:
                with suppress(OSError):
                    data = self.data(path)
                    if is_again and path not in known:
                        self._remember_text(path, data)
                    self._note_places(path, data, asked)

    def _knows_words(self, path: str) -> bool:
        """The same of any text file."""
        return self._has_words(path) or (path in self._words_of_texts and path not in self._overlay)

    def _remember_text(self, path: str, data: bytes) -> None:
        """Search the words of a file that is no Python from the second search on: most runs search once, or never."""
        if path in self._python or path in self._overlay or len(self._words_of_texts) >= _KEPT_WORDS_OF_TEXTS:
            return
        self._words_of_texts.add(path, b"" if b"\0" in data[:1024] else vocabulary(words_in(data)))

    def _note_places(self, path: str, data: bytes, asked: Mapping[str, bytes]) -> None:
        if b"\0" in data[:1024]:
            return
        for word, text in asked.items():
            if text in data:
                self._places[word] += (
                    f"{path}:{number}" for number, line in enumerate(data.split(b"\n"), 1) if text in line
                )

    def _texts(self) -> list[str]:
        """Every file below the root that may be text and is not too large, in order."""
        if self._listed is None:
            self._listed = list(self._list_texts())
        return self._listed

    def _list_texts(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self._root):
            folders[:] = sorted(name for name in folders if _is_entered(name))
            inside = f"{folder}{os.sep}"[len(self._folder) :].replace(os.sep, "/")
            for name in sorted(names):
                path = f"{inside}{name}"
                if name.endswith(_NEVER_TEXT):
                    continue
                with suppress(OSError):
                    if path in self._overlay or self.size(path) <= MOST_TEXT:
                        yield path


def _is_entered(folder: str) -> bool:
    """Whether a folder of this name may hold a project's own text."""
    return folder not in _NOT_ENTERED and (not folder.startswith(".") or folder in _OF_CI)


def changed_texts(before: Mapping[str, SourceText], after: Mapping[str, SourceText]) -> frozenset[str]:
    """Files whose texts differ between two states, each told by what takes the place of texts on disk."""
    return frozenset(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
