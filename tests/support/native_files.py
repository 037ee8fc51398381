"""Native libraries made byte by byte, for tests of what reads them."""

from __future__ import annotations

import struct
from collections.abc import Iterable

PTX, CUBIN, LTO = 1, 2, 8
PLAIN, SPECIFIC, FAMILY = 0x8011, 0x108011, 0x1208011


def image(kind: int, architecture: int, flags: int = PLAIN, payload: bytes = b"x" * 24, header: int = 64) -> bytes:
    """One image: header and payload."""
    head = struct.pack("<HHIQQIIIIQ", kind, 0x101, header, len(payload), 0, 0, architecture, 0, 0, flags)
    return head.ljust(header, b"\0") + payload


def fatbin(*images: bytes) -> bytes:
    """A fatbin of images."""
    body = b"".join(images)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def elf(sections: Iterable[tuple[str, bytes]]) -> bytes:
    """A 64-bit ELF file of nothing but sections."""
    sections = [("", b""), *sections]
    names = b"\0".join(name.encode() for name, _ in [*sections, (".shstrtab", b"")]) + b"\0"
    sections.append((".shstrtab", names))
    body, headers, name_at = b"", b"", 0
    for name, data in sections:
        headers += struct.pack("<IIQQQQIIQQ", name_at, 1 if name else 0, 0, 0, 64 + len(body), len(data), 0, 0, 1, 0)
        body += data
        name_at += len(name) + 1
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 56, 0, 64, len(sections), len(sections) - 1
    )
    return head + body + headers


def dll(sections: Iterable[tuple[str, bytes]]) -> bytes:
    """A Windows DLL of nothing but sections, whose names are cut to eight bytes as in real ones."""
    sections = list(sections)
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64)
    head += b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, len(sections), 0, 0, 0, 0, 0x2022)
    at = len(head) + 40 * len(sections)
    table, body = b"", b""
    for name, data in sections:
        padded = data.ljust(-(-len(data) // 512) * 512, b"\0")
        table += struct.pack(
            "<8sIIIIIIHHI", name.encode()[:8], len(data), 4096, len(padded), at + len(body), 0, 0, 0, 0, 0
        )
        body += padded
    return head + table + body
