"""A text or log as lines: decoded, without colours, without the marks that launchers and loggers put before each line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from torchlift.lazy_dataclass import dataclass

_SIZE = 1 << 20
"""Characters of a chunk."""
_CARRIED = 12
"""Lines of a chunk that the next one begins with: the longest messages take about as many."""
_LONGEST = 1 << 14
"""Characters of them, at most."""

_HEAD = 1 << 16
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
}

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)?|[ -/]{0,4}[0-Z\\^-~])|\^\[\[[0-9;]{0,16}m"
)
_TIME = r"\d{4}-\d\d-\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_MARK = re.compile(
    r"\s{0,8}(?:"
    r"\[(?:rank|default|local_rank|worker_?|node)?\s?(?P<rank>\d{1,6})\](?::|(?=\s))"  # torchrun, srun
    r"|\[\d{1,6},(?P<mpi>\d{1,6})\]<std(?:out|err)>:"  # mpirun
    r"|(?P<label>\d{1,6}): (?=\S)"  # srun --label
    r"|\[?" + _TIME + r"\]?[:,]?(?=\s|$)"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,64} [^\s:]{1,64}(?:\[\d{1,9}\])?:"  # the journal
    r"|\((?:\w{1,60} )?(?:pid|ip)=[^)\n]{1,80}\)"  # Ray
    r"|[\w.-]{1,40}\s{0,20}\|(?=\s)"  # docker compose
    r"|(?:ERROR|CRITICAL|FATAL) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]\n]{1,60}\]"  # vLLM
    r"|E(?=\s{3})"  # pytest
    r")"
)
_BOX = "│┃║|❱╰╭─╯╮ \t"
_FILE_LINE = re.compile(r"\s{0,200}(?:File \"[^\"\n]{0,400}\", line \d{1,9}|[│|]\s{0,4}\S{1,300}:\d{1,9} in )")
_MOST_MARKS = 4


class UnreadableText(ValueError):
    """The input is no text; the message is a sentence."""


@dataclass(frozen=True)
class Line:
    """A line of the text."""

    number: int
    """From 1."""
    text: str
    """Without escapes and marks; empty where it only quotes source code."""
    rank: int | None
    """As the launcher's mark says."""


@dataclass(frozen=True)
class Chunk:
    """A part of the text, as it is. It begins with the end of the one before, so that no message is cut."""

    text: str
    first: int
    """Number of its first line."""
    new: int
    """Where what was not in the chunk before begins."""


def chunks_of(stream: BinaryIO) -> Iterator[Chunk]:
    """A text in any common encoding, a mebibyte at a time.

    Raises:
        UnreadableText: it is binary or compressed.
    """
    head = stream.read(_HEAD)
    encoding = _encoding(head)
    text = io.TextIOWrapper(io.BufferedReader(_Continued(head, stream)), encoding, errors="replace", newline="\n")
    carried, number = "", 1
    while block := text.read(_SIZE):
        whole = carried + block + text.readline(_LONGEST)
        yield Chunk(whole, number, len(carried))
        carried = _end(whole)
        number += whole.count("\n", 0, len(whole) - len(carried))


def _end(text: str) -> str:
    start = len(text)
    for _ in range(_CARRIED):
        start = text.rfind("\n", 0, start)
        if start <= len(text) - _LONGEST:
            return text[-_LONGEST:]
    return text[start:]


def cleaned(lines: Sequence[str], numbers: Sequence[int]) -> Iterator[Line]:
    """Lines of one chunk, without escapes, marks, and quoted source code."""
    quoting: dict[int | None, bool] = {}
    for number, raw in zip(numbers, lines, strict=True):
        rank, text = _without_marks(raw)
        is_place = _FILE_LINE.match(text) is not None
        if quoting.get(rank) and not is_place and text[:1] in (" ", "\t", ""):
            # What a traceback quotes is code that raises or catches the error, not the error.
            quoting[rank] = not text.strip(" ^~")
            yield Line(number, "", rank)
            continue
        quoting[rank] = is_place
        yield Line(number, text.strip(_BOX), rank)


def _without_marks(raw: str) -> tuple[int | None, str]:
    rank = None
    text = (_ESCAPES.sub("", raw) if "\x1b" in raw or "^[" in raw else raw).rstrip()
    for _ in range(_MOST_MARKS):
        mark = _MARK.match(text)
        if mark is None:
            break
        found = mark["rank"] or mark["mpi"] or mark["label"]
        rank = int(found) if found is not None and rank is None else rank
        text = text[mark.end() :]
    return rank, text


def _encoding(head: bytes) -> str:
    for magic, name in _COMPRESSED.items():
        if head.startswith(magic):
            raise UnreadableText(f"The input is compressed ({name}); unpack it first.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in head:
        if len(head) > 3 and not any(head[1:400:2]):
            return "utf-16-le"
        raise UnreadableText("The input is binary, not a text; give the error message or a log file.")
    controls = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in head)
    undecodable = head.decode("utf-8", errors="replace").count("\ufffd")
    if controls > len(head) // 20 + 8 or (undecodable > len(head) // 3 and controls > len(head) // 100 + 8):
        raise UnreadableText("The input is binary, not a text; give the error message or a log file.")
    return "utf-8-sig"


class _Continued(io.RawIOBase):
    """A stream whose head was read already."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data, self._head = (self._head, b"") if self._head else (self._rest.read(len(buffer)), b"")
        if len(data) > len(buffer):
            data, self._head = data[: len(buffer)], data[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)
