"""Random access to a file that may be huge, truncated or garbage."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from types import TracebackType

from torchlift.file_bytes import without_waiting


class Unreadable(Exception):
    """A file is not what its reader reads; the message is a clause that says why ("ends inside its section table")."""


_PREAD: Callable[[int, int, int], bytes] | None = getattr(os, "pread", None)
"""One call instead of two: libraries of torch take tens of thousands. Windows has none."""

_MOST_READS = 1_000_000
"""Libraries of torch take some thousands; a damaged or made one may lead a reader through it byte by byte."""


class Source:
    """Reads pieces of a file without the rest; a context manager.

    Reads, not a memory map: a file that another process truncates would kill this one through a map.
    """

    def __init__(self, path: str) -> None:
        """Open `path`; raises `Unreadable`."""
        try:
            self._file = open(path, "rb", buffering=0, opener=without_waiting)  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise Unreadable(f"cannot be opened: {getattr(error, 'strerror', None) or error}") from error
        self._reads = 0
        try:
            found = os.fstat(self._file.fileno())
        except OSError as error:
            self._file.close()
            raise Unreadable(f"cannot be read: {error.strerror}") from error
        self.size = found.st_size
        if not stat.S_ISREG(found.st_mode):
            self._file.close()
            raise Unreadable("is not a regular file")

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def read(self, offset: int, size: int, what: str) -> bytes:
        """Exactly `size` bytes; raises `Unreadable` naming `what` where the file has fewer."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise Unreadable(f"ends inside {what}")
        return self.some(offset, size, what, size)

    def some(self, offset: int, size: int, what: str, at_least: int = 0) -> bytes:
        """Up to `size` bytes; raises `Unreadable` below `at_least`."""
        self._reads += 1
        if self._reads > _MOST_READS:
            raise Unreadable(f"leads from place to place without an end, at {what}")
        try:
            data = self._at(offset, size)
            while len(data) < size and (piece := self._at(offset + len(data), size - len(data))):
                data += piece
        except (OSError, ValueError, OverflowError, MemoryError) as error:
            raise Unreadable(f"cannot be read at {what}: {getattr(error, 'strerror', None) or error}") from error
        if len(data) < at_least:
            raise Unreadable(f"ends inside {what}")
        return data

    def _at(self, offset: int, size: int) -> bytes:
        if _PREAD is not None:
            return _PREAD(self._file.fileno(), size, offset)
        self._file.seek(offset)
        return self._file.read(size) or b""
