"""Files with several names (hard links), which are one file again after all of them got the same new text."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_File = tuple[int, int]


class HardLinks:
    """What is known of the names of the files that a run changes.

    Args:
        paths: all of them, before the first is written.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._file: dict[Path, _File] = {}
        self._names: dict[_File, int] = {}
        self._written: dict[_File, list[tuple[Path, bytes]]] = {}
        for path in paths:
            with suppress(OSError):
                found = path.stat()
                if found.st_nlink > 1:
                    self._file[path] = found.st_dev, found.st_ino
                    self._names[self._file[path]] = found.st_nlink

    def written(self, path: Path, data: bytes) -> Path | None:
        """Another name that the file `path` had, under which `data` was written already."""
        if path not in self._file:
            return None
        return next((name for name, new in self._written.get(self._file[path], ()) if new == data), None)

    def add(self, path: Path, data: bytes) -> None:
        """Note that `data` was written to `path`."""
        if path in self._file:
            self._written.setdefault(self._file[path], []).append((path, data))

    def notes(self) -> list[str]:
        """A sentence for each file that has names which keep the old text."""
        return [
            f"{names[0][0]} has other hard links, which keep the old text."
            for file, names in self._written.items()
            if len({os.path.realpath(name) for name, _ in names}) < self._names[file]
        ]
