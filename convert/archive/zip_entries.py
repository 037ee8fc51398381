"""A zip archive of which no byte is believed: few entries, bounded reads, no file written."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO

from torchlift.file_bytes import without_waiting

_END = b"PK\x05\x06"
_END_SIZE = 22
_LONGEST_COMMENT = 65_535
_END_64 = struct.Struct("<4sQHHLLQQQQ")
_LOCATOR_64 = struct.Struct("<4sLQL")
_LARGEST_DIRECTORY = 32 << 20
_MOST_READ = 256 << 20
_UNKNOWN_32 = 0xFFFFFFFF


class BadArchive(ValueError):
    """The file cannot be read as what it seems to be; the text is a sentence without its subject and end."""


class ZipEntries:
    """The entries of a zip archive, by name.

    Args:
        file: the archive, open for reading; it stays open as long as this is used.

    Raises:
        BadArchive: it is damaged, or made to harm whoever reads it.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._read = 0
        _check_directory(file)
        try:
            self._zip = zipfile.ZipFile(file)
        except (
            zipfile.BadZipFile,
            zipfile.LargeZipFile,
            ValueError,
            OSError,
            struct.error,
            NotImplementedError,
        ) as error:
            raise BadArchive(f"has a broken zip directory ({error})") from None
        self.sizes: dict[str, int] = {}
        self.twice: list[str] = []
        for info in self._zip.infolist():
            if info.filename in self.sizes:
                self.twice.append(info.filename)
            self.sizes[info.filename] = info.file_size

    @property
    def odd_names(self) -> list[str]:
        """Names that would lead out of a folder in which the archive is unpacked."""
        return [
            name
            for name in self.sizes
            if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or name[1:2] == ":"
        ]

    def read(self, name: str, most: int) -> bytes:
        """The content of an entry.

        Args:
            name: of the entry.
            most: bytes that it may have once it is decompressed, whatever the archive says.

        Raises:
            BadArchive: it is larger, damaged, encrypted, or not there; or the archive made this object read too much in all.
        """
        try:
            with self._zip.open(name) as entry:
                data = entry.read(most + 1)
        except KeyError:
            raise BadArchive(f"has no entry {name!r}") from None
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            RuntimeError,
            ValueError,
            NotImplementedError,
        ) as error:
            raise BadArchive(f"has a damaged entry {name!r} ({error or type(error).__name__})") from None
        if len(data) > most:
            raise BadArchive(f"has an entry {name!r} of more than {most >> 20} MB once it is decompressed")
        self._read += len(data)
        if self._read > _MOST_READ:
            raise BadArchive(f"has more than {_MOST_READ >> 20} MB of code and pickles")
        return data


def opened(path: Path) -> IO[bytes]:
    """The file, open for reading. A named pipe is not waited for. Raises OSError."""
    file = open(path, "rb", opener=without_waiting)  # noqa: SIM115 - the caller closes it; a Path takes no opener
    if not os.path.isfile(f"/dev/fd/{file.fileno()}" if not path.is_file() else path):  # noqa: PTH113
        file.close()
        raise OSError(0, "it is not a regular file", str(path))
    return file


def _check_directory(file: IO[bytes]) -> None:
    """Looks at the end of the file only: what stands there says how much has to be read to know the entries."""
    size = file.seek(0, os.SEEK_END)
    tail_size = min(size, _END_SIZE + _LONGEST_COMMENT + _LOCATOR_64.size)
    file.seek(size - tail_size)
    tail = file.read(tail_size)
    place = tail.rfind(_END)
    if place < 0 or len(tail) - place < _END_SIZE:
        raise BadArchive("begins as a zip archive and does not end as one: it is cut off")
    directory = struct.unpack_from("<L", tail, place + 12)[0]
    if directory == _UNKNOWN_32 and place >= _LOCATOR_64.size:
        mark, _, offset, _ = _LOCATOR_64.unpack_from(tail, place - _LOCATOR_64.size)
        if mark == b"PK\x06\x07" and offset + _END_64.size <= size:
            file.seek(offset)
            directory = _END_64.unpack(file.read(_END_64.size))[8]
    if directory > min(_LARGEST_DIRECTORY, size):
        raise BadArchive("names more entries in its zip directory than a model has")
    file.seek(0)
