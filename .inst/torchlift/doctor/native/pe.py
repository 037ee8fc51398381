"""The section table of a Windows DLL.

Layout: Microsoft, "PE Format". Section names are cut to eight bytes, so nvcc's `.nv_fatbin` reads `.nv_fatb`: seen in
curand64_10.dll of the nvidia-curand 10.4.5.25 wheel for win_amd64 (2026-11-21).
"""

from __future__ import annotations

import struct

from torchlift.doctor.native.elf import Section
from torchlift.doctor.native.source import Source, Unreadable

PE_MAGIC = b"MZ"


def sections(source: Source) -> tuple[Section, ...]:
    """All sections; raises `Unreadable`."""
    start = source.read(0, 64, "its header")
    (at,) = struct.unpack_from("<I", start, 60)
    header = source.read(at, 24, "its header")
    if start[:2] != PE_MAGIC or header[:4] != b"PE\0\0":
        raise Unreadable("is not a Windows library")
    (count,) = struct.unpack_from("<H", header, 6)
    (optional,) = struct.unpack_from("<H", header, 20)
    table = source.read(at + 24 + optional, 40 * count, "its section table")
    found = []
    for index in range(count):
        name, virtual, _, raw, offset = struct.unpack_from("<8sIIII", table, 40 * index)
        # The size on disk is rounded up; the virtual size is the true one unless it is larger.
        size = min(virtual, raw) if virtual else raw
        found.append(Section(name.rstrip(b"\0").decode("ascii", "replace"), offset, size))
    return tuple(found)
