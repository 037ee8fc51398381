"""What the dynamic loader would read of a 64-bit little-endian ELF library: sections, needed libraries, symbols.

Layout: the System V ABI, generic part (ELF header, program and section headers, dynamic section, symbol table), and the
GNU hash table as glibc's `elf/dl-lookup.c` reads it. Checked against readelf and nm.
"""

# ruff: noqa: PTH120

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlift.doctor.native.source import Source, Unreadable
from torchlift.lazy_dataclass import dataclass

ELF_MAGIC = b"\x7fELF"

_LOAD, _DYNAMIC = 1, 2
_NULL, _NEEDED, _STRTAB, _SYMTAB, _STRSZ, _RPATH, _RUNPATH = 0, 1, 5, 6, 10, 15, 29
_HASH, _GNU_HASH = 4, 0x6FFFFEF5
_SYMBOL = 24
_STRONG = (1, 10)
"""Symbol bindings STB_GLOBAL and STB_GNU_UNIQUE: the loader refuses a library where such a one stays undefined."""
_LARGEST_TABLE = 512 << 20
_MAX_DYNAMIC = 1 << 16


@dataclass(frozen=True)
class Section:
    """A named part of the file."""

    name: str
    offset: int
    size: int


class Elf:
    """One library, read piece by piece as it is asked. Every method raises `Unreadable` for a broken file."""

    def __init__(self, source: Source) -> None:
        """`source` stays the caller's to close."""
        self._source = source
        header = source.some(0, 64, "its header")
        if header[:4] != ELF_MAGIC:
            raise Unreadable("is empty" if not header else "is not an ELF file")
        if len(header) < 64:
            raise Unreadable("ends inside its header")
        if header[4:6] != b"\x02\x01":
            raise Unreadable("is not a 64-bit little-endian ELF file")
        self.machine: int = struct.unpack_from("<H", header, 18)[0]
        """EM_X86_64 is 62, EM_AARCH64 183."""
        self._program_offset, self._section_offset = struct.unpack_from("<QQ", header, 32)
        self._program_size, self._program_count, self._section_size, self._section_count, self._names_index = (
            struct.unpack_from("<5H", header, 54)
        )

    def sections(self, wanted: Iterable[str]) -> tuple[Section, ...]:
        """All sections where one of the `wanted` names may be among theirs, which few libraries have; else none."""
        if not self._section_offset or not self._section_count:
            return ()
        if self._section_size < 64:
            raise Unreadable("has a section table with entries of a wrong size")
        table = self._source.read(self._section_offset, self._section_size * self._section_count, "its section table")
        entries = [
            struct.unpack_from("<IIQQQQ", table, self._section_size * index) for index in range(self._section_count)
        ]
        if self._names_index >= len(entries):
            raise Unreadable("has a section table without names")
        _, _, _, _, offset, size = entries[self._names_index]
        names = self._source.read(offset, min(size, 1 << 20), "its section names")
        if not any(name.encode() in names for name in wanted):
            return ()
        # SHT_NOBITS (8) takes no room in the file.
        return tuple(
            Section(_text(names, name), at, 0 if kind == 8 else size) for name, kind, _, _, at, size in entries
        )

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """DT_NEEDED, in order."""
        return tuple(self._string(value) for tag, value in self._dynamic if tag == _NEEDED)

    def search_path(self, path: str) -> tuple[str, ...]:
        """The folders of DT_RPATH and DT_RUNPATH with `$ORIGIN` put in, for a library that lies at `path`.

        A `$LIB` or `$PLATFORM` is left as it is.
        """
        origin = os.path.dirname(path)
        folders = []
        for tag, value in self._dynamic:
            if tag in (_RPATH, _RUNPATH):
                for folder in self._string(value).split(":"):
                    if folder:
                        full = folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
                        folders.append(os.path.normpath(full))
        return tuple(folders)

    def undefined(self) -> Iterator[str]:
        """Names of the symbols that another library has to define; weak ones are left out."""
        if self._value(_SYMTAB) is None:
            return
        count = self._symbol_count()
        table = self._source.read(self._address(_SYMTAB), count * _SYMBOL, "its symbol table")
        for name, info, _, section, _, _ in struct.iter_unpack("<IBBHQQ", table):
            if section == 0 and name and info >> 4 in _STRONG:
                yield _text(self._strings, name)

    def defines(self, symbol: str) -> bool:
        """Whether the dynamic symbol table defines it, looked up through the GNU hash table."""
        if self._value(_SYMTAB) is None:
            return False
        table = self._gnu_hash
        if table is None:
            return symbol in self._defined
        wanted = _gnu_hash_of(symbol)
        word = table.bloom[(wanted // 64) % len(table.bloom)]
        if not (word >> (wanted % 64)) & (word >> ((wanted >> table.shift) % 64)) & 1:
            return False
        index = table.buckets[wanted % len(table.buckets)]
        if index < table.first:
            return False
        name = symbol.encode()
        for place in range(index - table.first, len(table.chain)):
            value = table.chain[place]
            if value | 1 == wanted | 1 and self._is(table.first + place, name):
                return True
            if value & 1:
                return False
        return False

    @cached_property
    def _segments(self) -> tuple[tuple[int, int, int, int], ...]:
        # Type, file offset, address, size in the file.
        if not self._program_count:
            return ()
        if self._program_size < 56:
            raise Unreadable("has a program header table with entries of a wrong size")
        table = self._source.read(
            self._program_offset, self._program_size * self._program_count, "its program header table"
        )
        segments = []
        for index in range(self._program_count):
            kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", table, self._program_size * index)
            segments.append((kind, offset, address, size))
        return tuple(segments)

    @cached_property
    def _dynamic(self) -> tuple[tuple[int, int], ...]:
        for kind, offset, _, size in self._segments:
            if kind == _DYNAMIC:
                table = self._source.read(offset, min(size, 16 * _MAX_DYNAMIC) // 16 * 16, "its dynamic section")
                entries = []
                for tag, value in struct.iter_unpack("<QQ", table):
                    if tag == _NULL:
                        break
                    entries.append((tag, value))
                return tuple(entries)
        return ()

    def _value(self, wanted: int) -> int | None:
        return next((value for tag, value in self._dynamic if tag == wanted), None)

    def _address(self, tag: int) -> int:
        value = self._value(tag)
        if value is None:
            raise Unreadable("has no dynamic symbols")
        return self._offset(value)

    def _offset(self, address: int) -> int:
        for kind, offset, start, size in self._segments:
            if kind == _LOAD and start <= address < start + size:
                return offset + address - start
        raise Unreadable("has a dynamic section that points outside the file")

    @cached_property
    def _strings(self) -> bytes:
        size = self._value(_STRSZ) or 0
        if size > _LARGEST_TABLE:
            raise Unreadable("has an impossibly large string table")
        return self._source.read(self._address(_STRTAB), size, "its dynamic strings")

    def _string(self, index: int) -> str:
        # One by one: the whole table of a library such as libtorch_cpu is 20 MB, and only a few names are wanted.
        if "_strings" in self.__dict__:
            return _text(self._strings, index)
        piece = self._source.some(self._string_table + index, 4096, "its dynamic strings")
        return _text(piece, 0)

    @cached_property
    def _string_table(self) -> int:
        return self._address(_STRTAB)

    def _is(self, index: int, name: bytes) -> bool:
        entry = self._source.read(self._address(_SYMTAB) + index * _SYMBOL, _SYMBOL, "its symbol table")
        at, _, _, section, _, _ = struct.unpack("<IBBHQQ", entry)
        if section == 0:
            return False
        found = self._source.some(self._string_table + at, len(name) + 1, "its dynamic strings")
        return found == name + b"\0"

    @cached_property
    def _gnu_hash(self) -> _GnuHash | None:
        value = self._value(_GNU_HASH)
        if value is None:
            return None
        at = self._offset(value)
        buckets, first, words, shift = struct.unpack("<4I", self._source.read(at, 16, "its hash table"))
        if not buckets or not words or 8 * words + 4 * buckets > _LARGEST_TABLE:
            return None
        bloom = self._source.read(at + 16, 8 * words, "its hash table")
        bucket = self._source.read(at + 16 + 8 * words, 4 * buckets, "its hash table")
        starts = memoryview(bucket).cast("I") if _LITTLE else struct.unpack(f"<{buckets}I", bucket)
        chain_at = at + 16 + 8 * words + 4 * buckets
        last = max(starts, default=0)
        # The chain's length is written nowhere: it ends with the chain of the highest bucket.
        size = 0
        if last >= first:
            size = last - first
            if 4 * size > _LARGEST_TABLE:
                raise Unreadable("has a hash table that points outside the file")
            while True:
                (value,) = struct.unpack("<I", self._source.read(chain_at + 4 * size, 4, "its hash table"))
                size += 1
                if value & 1:
                    break
        chain = self._source.read(chain_at, 4 * size, "its hash table")
        if _LITTLE:
            return _GnuHash(
                first, shift, memoryview(bloom).cast("Q"), memoryview(bucket).cast("I"), memoryview(chain).cast("I")
            )
        return _GnuHash(
            first,
            shift,
            struct.unpack(f"<{words}Q", bloom),
            struct.unpack(f"<{buckets}I", bucket),
            struct.unpack(f"<{size}I", chain),
        )

    def _symbol_count(self) -> int:
        value = self._value(_HASH)
        if value is not None:
            count: int = struct.unpack("<I", self._source.read(self._offset(value) + 4, 4, "its hash table"))[0]
        elif (table := self._gnu_hash) is not None:
            count = table.first + len(table.chain)
        else:
            count = next(
                (section.size // _SYMBOL for section in self.sections((".dynsym",)) if section.name == ".dynsym"), 0
            )
        if count * _SYMBOL > _LARGEST_TABLE:
            raise Unreadable("has an impossibly large symbol table")
        return count

    @cached_property
    def _defined(self) -> frozenset[str]:
        table = self._source.read(self._address(_SYMTAB), self._symbol_count() * _SYMBOL, "its symbol table")
        return frozenset(
            _text(self._strings, name) for name, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", table) if section
        )


_LITTLE = struct.pack("=H", 1) == b"\x01\x00"


@dataclass(frozen=True)
class _GnuHash:
    first: int
    shift: int
    bloom: memoryview | tuple[int, ...]
    buckets: memoryview | tuple[int, ...]
    chain: memoryview | tuple[int, ...]


def _gnu_hash_of(symbol: str) -> int:
    value = 5381
    for byte in symbol.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def _text(table: bytes, index: int) -> str:
    if index >= len(table):
        raise Unreadable("has names outside its string table")
    end = table.find(b"\0", index)
    return table[index : end if end >= 0 else len(table)].decode("utf-8", "replace")
