"""Where a snapshot sends what happens to the captured value: to a sleeping copy of the process, or to a file."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from typing import Optional

HEADER = struct.Struct("<Q")
"""Before each message: its size in bytes."""
_SEND_SECONDS = 5.0


class Pipe:
    """To a copy that sleeps."""

    def __init__(self, end: socket.socket) -> None:
        end.settimeout(_SEND_SECONDS)
        self._end: Optional[socket.socket] = end
        self._node = os.fstat(end.fileno()).st_ino

    def is_open(self) -> bool:
        """Whether it is still there; a program may close files that it does not know, and the number is then another's."""
        if self._end is None:
            return False
        try:
            same = os.fstat(self._end.fileno()).st_ino == self._node
        except OSError:
            same = False
        if not same:
            self._end.detach()
            self._end = None
        return same

    def send(self, data: bytes) -> bool:
        """Whether it was sent; after it was not, half a message may be out, so nothing can follow."""
        with contextlib.suppress(OSError):
            if self._end is not None:
                self._end.sendall(HEADER.pack(len(data)) + data, socket.MSG_NOSIGNAL)
                return True
        return False

    def close(self) -> None:
        """Send nothing more."""
        if self._end is not None:
            self._end.close()
            self._end = None


class CourseFile:
    """To a file, which a fresh process reads when all is over; opened for each message, as the spool's."""

    def __init__(self, path: str) -> None:
        self._path = path

    def is_open(self) -> bool:
        """Whether it is still there."""
        return os.path.exists(self._path)

    def send(self, data: bytes) -> bool:
        """Whether it was written."""
        with contextlib.suppress(OSError), open(self._path, "ab") as file:
            file.write(HEADER.pack(len(data)) + data)
            return True
        return False

    def close(self) -> None:
        """Nothing is open."""
