"""Whether the files of a project are as they were.

A file counts as unchanged where size, inode and both times of it are the same, as for ruff, and one time more: nobody sets the
time of the last change of an inode. Otherwise its content decides, so that a fresh checkout is known again. What was written so
shortly before it was looked at that a later change could bear the same time is compared by content always.
"""

# Paths are strings here: a Path object for each of thousands of files costs more than all the rest.
# ruff: noqa: PTH118

from __future__ import annotations

import os
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from torchlift.file_bytes import MOST_BYTES, file_bytes
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.cache.digests import hashed

MOST_FILES = 100_000
"""A folder with more is no project, and to look at all of them takes longer than a run does."""
_COARSE = 2_000_000_000
"""Nanoseconds between two times that a file system tells apart, at the worst."""
# A superset of what a search through the texts of a project looks at (`search.project_files`).
_NOT_ENTERED = frozenset({".git", ".hg", ".svn", ".hypothesis", "__pycache__", "node_modules", "site-packages"})
_MARKS_OF_TOOLS = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
# Weights, pictures, archives: no run reads them, whose names alone may matter.
_NEVER_READ = tuple(
    ".pt .pt2 .pth .bin .safetensors .npy .npz .png .jpg .jpeg .gif .so .pyc .zip .gz .whl .pdf".split()
)


class TooLarge(Exception):
    """There are too many files to look at all of them."""


Row = tuple[str, str, int, int, int, int]
"""Path, what it is (`file`, `name` of what is not read, `link` that leads nowhere or to a folder), size, inode and the two times."""


@dataclass(frozen=True)
class Tree:
    """The files below a folder at one time; paths are relative to it.

    Attributes:
        root: the folder.
        rows: one for each file, sorted.
        contents: digests of the files that were read.
        seen: when it was begun to look, in nanoseconds.
    """

    root: str
    rows: tuple[Row, ...]
    contents: Mapping[str, str | None]
    seen: int

    @property
    def digest(self) -> str:
        """The same for trees of which nothing changed that is seen without reading files; empty where that could deceive."""
        if any(_is_fresh(row, self.seen) for row in self.rows):
            return ""
        return hashed(repr(self.rows).encode("utf-8", "surrogateescape"))

    def plain(self) -> list[list[Any]]:
        """All that `is_as_in` compares with; rows that could deceive are without their times."""
        return [
            [row[0], row[1], row[2], *((0, 0, 0) if _is_fresh(row, self.seen) else row[3:]), self.contents.get(row[0])]
            for row in self.rows
        ]

    def reading(self, paths: Iterable[str]) -> Tree:
        """The same with digests of the content of these files."""
        contents = {path: _content(self.root, path) for path in paths}
        return Tree(self.root, self.rows, {**self.contents, **contents}, self.seen)

    @property
    def files(self) -> list[str]:
        """The files whose content may matter."""
        return [row[0] for row in self.rows if row[1] == "file"]

    @property
    def fresh(self) -> list[str]:
        """Those of them that were written just before."""
        return [row[0] for row in self.rows if row[1] == "file" and _is_fresh(row, self.seen)]

    def is_as_in(self, plain: list[list[Any]]) -> bool:
        """Whether every file is as it was when `plain` was taken."""
        if len(plain) != len(self.rows):
            return False
        return all(self._is_as(row, *was) for row, was in zip(self.rows, plain, strict=True))

    def unread(self, plain: list[list[Any]]) -> dict[str, str | None]:
        """Digests in `plain` of files that are seen to be as they were without being read."""
        now = {row[0]: row for row in self.rows if row[1] == "file"}
        return {path: content for path, *was, content in plain if content is not None and now.get(path) == (path, *was)}

    def others_are_as_in(self, plain: list[list[Any]], places: Mapping[str, Any]) -> bool:
        """Whether every file that is not in `places` is as in `plain`, and those in `places` are files."""
        others = Tree(self.root, tuple(row for row in self.rows if row[0] not in places), self.contents, self.seen)
        return others.is_as_in(plain) and len(self.rows) - len(others.rows) == len(places)

    def changed(self, places: Mapping[str, Any]) -> list[str]:
        """The files in `places`, which `stored` made, that are others now."""
        return [
            row[0] for row in self.rows if row[0] in places and not self._is_as(row, *row[:1], *places[row[0]][:-2])
        ]

    def stored(self, paths: Set[str], known: Callable[[str], bytes | None]) -> tuple[dict[str, list[Any]], bytes]:
        """What `changed` compares with for some of the files, and where the text of each is in the bytes: start and length.

        Args:
            paths: the files.
            known: what an earlier call stored of a file that has not changed since, if one did.

        Raises:
            OSError: a file cannot be read.
        """
        places: dict[str, list[Any]] = {}
        stored = bytearray()
        for path, *was in self.plain():
            if path in paths:
                text = known(path) or zlib.compress(file_bytes(os.path.join(self.root, path)), 1)
                places[path] = [*was, len(stored), len(text)]
                stored += text
        return places, bytes(stored)

    def _is_as(self, row: Row, path: str, kind: str, size: int, *rest: Any) -> bool:
        *times, content = rest
        if row[:3] != (path, kind, size):
            return False
        return (
            kind != "file" or row[3:] == tuple(times) or (content is not None and _content(self.root, path) == content)
        )


def look_at(root: str, extra: Iterable[str] = ()) -> Tree:
    """The files below `root`, and further ones that lie elsewhere or in folders that are not entered.

    Raises:
        TooLarge: there are more than `MOST_FILES`.
        OSError: a folder cannot be listed.
    """
    seen = time.time_ns()
    rows: dict[str, Row] = {}
    pending = [""]
    while pending:
        inside = pending.pop()
        with os.scandir(os.path.join(root, inside)) as entries:
            listed = list(entries)
        if inside.startswith(".") and not _MARKS_OF_TOOLS.isdisjoint(entry.name for entry in listed):
            continue
        for entry in listed:
            path = f"{inside}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                rows[path] = _row(root, path)
            elif entry.name not in _NOT_ENTERED:
                pending.append(f"{path}/")
        if len(rows) > MOST_FILES:
            raise TooLarge
    rows.update((path, _row(root, path)) for path in extra if path not in rows)
    return Tree(root, tuple(rows[path] for path in sorted(rows)), {}, seen)


def _row(root: str, path: str) -> Row:
    full = os.path.join(root, path)
    try:
        found = os.stat(full)  # noqa: PTH116
    except OSError:
        return (path, "link", 0, 0, 0, 0)
    if stat.S_ISDIR(found.st_mode):
        return (path, f"link to {os.path.realpath(full)}", 0, 0, 0, 0)
    if path.endswith(_NEVER_READ) or not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
        return (path, "name", 0, 0, 0, 0)
    return (path, "file", found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)


def _is_fresh(row: Row, seen: int) -> bool:
    return max(row[4], row[5]) > seen - _COARSE


def _content(root: str, path: str) -> str | None:
    """A digest of the content; None where it cannot be read, which is the same as nothing."""
    try:
        return hashed(file_bytes(os.path.join(root, path)))
    except OSError:
        return None
