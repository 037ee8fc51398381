"""Reads /etc/ld.so.cache, the list of libraries that glibc's loader goes by.

Format: `sysdeps/generic/dl-cache.h` and `sysdeps/generic/ldconfig.h` of glibc; the new format may follow an old one in
the same file (until glibc 2.31) and its offsets count from its own start.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

CACHE = "/etc/ld.so.cache"

_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER = 48
_ENTRY = struct.Struct("<iIIIQ")
_MACHINE_MASK = 0xFF00
_MACHINES = {"x86_64": 0x0300, "aarch64": 0x0A00}


def cached_libraries(data: bytes, machine: str) -> Iterator[tuple[str, str]]:
    """Names and paths for this machine ("x86_64" or "aarch64"; others are not filtered), in the loader's order.

    Ends early where the file is damaged.
    """
    start = data.find(_MAGIC)
    if start < 0:
        return
    table = data[start:]
    if len(table) < _HEADER:
        return
    (count,) = struct.unpack_from("<I", table, len(_MAGIC))
    wanted = _MACHINES.get(machine)
    for index in range(count):
        position = _HEADER + index * _ENTRY.size
        if position + _ENTRY.size > len(table):
            return
        flags, name, path, _, _ = _ENTRY.unpack_from(table, position)
        if wanted is None or flags & _MACHINE_MASK == wanted:
            yield _string(table, name), _string(table, path)


def _string(table: bytes, offset: int) -> str:
    end = table.find(b"\0", offset)
    return table[offset : end if end >= 0 else len(table)].decode(errors="surrogateescape")
