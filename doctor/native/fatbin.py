"""Which GPU architectures a native library holds code for, read from its fatbin headers alone.

nvcc puts device code into sections of the host library. Such a section is a row of fatbins; a fatbin is a 16-byte header
(magic u32, version u16, header size u16, size of the rest u64) and a row of images; an image is a header and a payload:

| offset | type | |
|---|---|---|
| 0 | u16 | kind: 1 PTX, 2 cubin (ELF), 8 LTO intermediate code |
| 4 | u32 | size of this header: 64 to 120 bytes seen |
| 8 | u64 | size of the payload |
| 28 | u32 | architecture: 90 is sm_90 |
| 40 | u64 | flags: 0x100000 architecture-specific (sm_90a), 0x200000 family-specific (sm_100f) |

Sizes lead from header to header, so a library of 500 MB costs some thousand small reads. Fatbin header and section names:
`fatbinary_section.h` of the CUDA 13.0 toolkit and nvcc's own output. Image header: compared with `cuobjdump --list-elf
--list-ptx` 13.5.37 on torch wheels and on libraries that nvcc 13.0 built with the targets 75, 90a, 100f, 103f and 120
(2026-11-21); cuobjdump prints the `f` of PTX only, a cubin of sm_103f as sm_103.
"""

from __future__ import annotations

import struct
from collections import Counter

from torchlift.doctor.native import pe
from torchlift.doctor.native.elf import ELF_MAGIC, Elf, Section
from torchlift.doctor.native.source import Source, Unreadable
from torchlift.lazy_dataclass import dataclass

LINKED_SECTIONS = frozenset({".nv_fatbin", "nv_fatbin", ".nv_fatb"})
"""Finished code; the last is how a Windows DLL cuts the name."""
RELOCATABLE_SECTIONS = frozenset({"__nv_relfatbin", "__nv_rel"})
"""Code of `nvcc -rdc=true` before linking. The driver links it anew on a GPU that no finished image fits ("JIT Linking"
in NVIDIA's nvcc manual), so it counts as code for its architecture."""
SECTIONS = LINKED_SECTIONS | RELOCATABLE_SECTIONS

_MAGIC = 0xBA55ED50
_MAGIC_BYTES = struct.pack("<I", _MAGIC)
_ARCHITECTURE_SPECIFIC = 0x100000
_FAMILY_SPECIFIC = 0x200000
_KINDS = {1: "ptx", 2: "sass", 8: "lto"}
_FATBIN_HEADER = struct.Struct("<IHHQ")
_IMAGE_HEADER = struct.Struct("<H2xIQ12xI8xQ")
_FATBIN, _HEADER = _FATBIN_HEADER.size, _IMAGE_HEADER.size
_GAP = 1 << 16


_Kind = tuple[int, int, int]
"""Kind, architecture, and which of the two flags, as the header has them."""


@dataclass(frozen=True)
class Image:
    """One kind of device code: "sass", "ptx", "lto" or "kind-N" for one newer than this reader."""

    kind: str
    architecture: str
    """"90", "90a", "100f"."""
    relocatable: bool


@dataclass(frozen=True)
class DeviceCode:
    """The images of a library with their numbers, and a clause about what could not be read."""

    images: Counter[Image]
    error: str | None = None


def read_device_code(path: str) -> DeviceCode:
    """The device code of a library; empty for one without. Never raises: what was read before an error is kept."""
    images: Counter[Image] = Counter()
    try:
        with Source(path) as source:
            count_images(source, library_sections(source), images)
    except Unreadable as error:
        return DeviceCode(images, str(error))
    return DeviceCode(images)


def library_sections(source: Source) -> tuple[Section, ...]:
    """The sections of an ELF or PE library; raises `Unreadable`."""
    start = source.some(0, 4, "its header")
    if start[:2] == pe.PE_MAGIC:
        return pe.sections(source)
    if start and start[: len(ELF_MAGIC)] != ELF_MAGIC:
        raise Unreadable("is neither an ELF nor a Windows library")
    return Elf(source).sections(SECTIONS)


def count_images(source: Source, sections: tuple[Section, ...], images: Counter[Image]) -> None:
    """Add the images of all fatbin sections to `images`; raises `Unreadable` where a section breaks off."""
    for section in sections:
        if section.name in SECTIONS:
            _section(source, section, section.name in RELOCATABLE_SECTIONS, images)


def _section(source: Source, section: Section, relocatable: bool, images: Counter[Image]) -> None:
    found: Counter[_Kind] = Counter()
    try:
        _walk(source, section, found)
    finally:
        for (kind, number, flags), count in found.items():
            suffix = "a" if flags & _ARCHITECTURE_SPECIFIC else "f" if flags else ""
            images[Image(_KINDS.get(kind, f"kind-{kind}"), f"{number}{suffix}", relocatable)] += count


def _walk(source: Source, section: Section, found: Counter[_Kind]) -> None:
    at, end = section.offset, section.offset + section.size
    where = f"its device code (section {section.name})"
    while end - at >= _FATBIN:
        # The first image stands behind most headers at once: one read for both.
        head = source.some(at, _FATBIN + _HEADER, where, _FATBIN)
        magic, _, header_size, size = _FATBIN_HEADER.unpack_from(head)
        if magic != _MAGIC:
            at = _next_fatbin(source, at, end, where)
            continue
        if header_size < _FATBIN or at + header_size + size > end:
            raise Unreadable(f"has a broken fatbin header at byte {at}")
        _fatbin(source, at + header_size, at + header_size + size, head[header_size:], found)
        at += header_size + size


def _fatbin(source: Source, at: int, end: int, head: bytes, found: Counter[_Kind]) -> None:
    while end - at >= _HEADER:
        if len(head) < _HEADER:
            head = source.read(at, _HEADER, "its device code")
        kind, header_size, size, number, flags = _IMAGE_HEADER.unpack_from(head)
        if header_size < _HEADER or at + header_size + size > end:
            raise Unreadable(f"has a broken device code header at byte {at}")
        found[kind, number, flags & (_ARCHITECTURE_SPECIFIC | _FAMILY_SPECIFIC)] += 1
        at += header_size + size
        head = b""


def _next_fatbin(source: Source, at: int, end: int, where: str) -> int:
    # The linker aligns fatbins, so there may be zeros between them; anything else means that the hop went wrong.
    gap = source.some(at, min(end - at, _GAP), where)
    found = gap.find(_MAGIC_BYTES)
    filling = gap if found < 0 else gap[:found]
    if filling.strip(b"\0"):
        raise Unreadable(f"has bytes that are no fatbin in section data at byte {at}")
    return at + max(len(filling), 1)
