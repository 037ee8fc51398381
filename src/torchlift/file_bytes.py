"""The bytes of a file that a repository brings along: never waited for, and never more than fit in memory."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 20_000_000
"""Far beyond what people and generators write: torch's own largest Python file has 1 MB, a large lock file 5 MB."""


def file_bytes(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """All bytes of a regular file.

    Raises:
        OSError: it cannot be read, is a pipe or a device, or has more bytes than `most`.
    """
    # A Path for each of thousands of files costs more than reading them, and so does `open`.
    handle = without_waiting(os.fspath(path), os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        data = os.read(handle, found.st_size + 1) if found.st_size <= most else b""
        if len(data) == found.st_size:
            return data
        size, parts = max(len(data), found.st_size), [data]
        # It is being written, or its file system does not know sizes.
        while size <= most and (part := os.read(handle, 1 << 20)):
            parts.append(part)
            size = sum(map(len, parts))
        if size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most // 1_000_000} MB", str(path))
        return b"".join(parts)
    finally:
        os.close(handle)


def is_in_file(needle: bytes, path: str | Path) -> bool:
    """Whether bytes stand in a regular file of any size.

    Raises:
        OSError: it cannot be read, or is a pipe or a device.
    """
    with open(path, "rb", opener=without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        end = b""
        while part := file.read(1 << 20):
            if needle in end + part:
                return True
            end = part[-len(needle) :]
    return False


def without_waiting(path: str, flags: int) -> int:
    """Open a file as `open(opener=...)` asks for; a named pipe is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
