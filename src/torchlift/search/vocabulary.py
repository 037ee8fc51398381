"""The words of files, each once: a fifth of their size, and enough to say where a text cannot stand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Set

from torchlift.lazy_pattern import lazy_pattern

WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789"
_ONLY_WORDS = bytes(byte if byte in WORD else 0x20 for byte in range(256))
_PART = 1 << 20
"""Bytes that are taken apart at a time: the words of a file need several times its size."""
_PARTS_OF_TEXT = lazy_pattern(rb"\w+")


def encoded(text: str) -> bytes:
    """`text` as it would stand in a file; a lone surrogate, of a file name that is no UTF-8 or of an escape, stands in none."""
    return text.encode("utf-8", "surrogatepass")


def words_in(data: bytes, known: frozenset[bytes] | None = None) -> Set[bytes]:
    """The different words of a file, or those of them that are known: these cost less."""
    if len(data) <= _PART:
        return _words(data, known)
    return set().union(*(_words(part, known) for part in _parts(data)))


def _words(data: bytes, known: frozenset[bytes] | None) -> Set[bytes]:
    words = data.translate(_ONLY_WORDS).split()
    return set(words) if known is None else known.intersection(words)


def vocabulary(words: Set[bytes]) -> bytes:
    """Words as one text, a space before and after each."""
    return b" %b " % b" ".join(words)


class Needle:
    """A text to look for.

    Attributes:
        text: the text.
        whole: whether it counts only where it neither continues a word nor is continued by one.
        words: what stands in the vocabulary of every file that holds it, the longest first.
        is_word: whether it stands wherever that stands in a vocabulary.
    """

    __slots__ = ("is_word", "text", "whole", "words")

    def __init__(self, text: bytes, *, whole: bool = False) -> None:
        self.text = text
        self.whole = whole
        needed = []
        for match in _PARTS_OF_TEXT.finditer(text):
            # Where the text goes on with something else, its word begins or ends there.
            before = b" " * (whole or match.start() > 0)
            needed.append(before + match[0] + b" " * (whole or match.end() < len(text)))
        self.words = tuple(sorted(needed, key=len, reverse=True))
        self.is_word = len(needed) == 1 and needed[0].strip() == text

    def is_in(self, data: bytes) -> bool:
        """Whether it stands in a file."""
        return stands_in(self.text, data) if self.whole else self.text in data


def stands_in(text: bytes, data: bytes) -> bool:
    """Whether `text` is in `data` and neither continues a word nor is continued by one."""
    at = data.find(text)
    while at >= 0:
        end = at + len(text)
        continued = end < len(data) and data[end] in WORD and text[-1] in WORD
        if not continued and (at == 0 or data[at - 1] not in WORD):
            return True
        at = data.find(text, at + 1)
    return False


class Vocabularies:
    """Vocabularies of many files, which are searched at once.

    Args:
        words: the vocabulary of each file, by path.

    Attributes:
        is_whole: whether those of all files were to be added, as far as there was room.
    """

    def __init__(self, words: Iterable[tuple[str, bytes]] = ()) -> None:
        self.is_whole = False
        self._paths: list[str] = []
        self._ends: list[int] = []
        self._spans: dict[str, tuple[int, int]] = {}
        self._text = bytearray()
        for path, text in words:
            self.add(path, text)

    def add(self, path: str, words: bytes) -> None:
        """Add the vocabulary of a file."""
        start = len(self._text)
        self._text += words
        self._spans[path] = (start, len(self._text))
        self._paths.append(path)
        self._ends.append(len(self._text))

    def __len__(self) -> int:
        return len(self._text)

    def __contains__(self, path: str) -> bool:
        return path in self._spans

    def may_hold(self, path: str, needle: Needle) -> bool:
        """Whether a text may stand in one of the files. It does if it is a word."""
        start, end = self._spans[path]
        return all(self._text.find(word, start, end) >= 0 for word in needle.words)

    def holding(self, needle: Needle) -> Iterator[str]:
        """Files in which a text may stand; where it is a word, those in which it does."""
        rarest = needle.words[0] if needle.words else b""
        at = self._text.find(rarest)
        while 0 <= at < len(self._text):
            number = bisect_right(self._ends, at)
            path = self._paths[number]
            if needle.is_word or self.may_hold(path, needle):
                yield path
            at = self._text.find(rarest, self._ends[number])


def _parts(data: bytes) -> Iterator[bytes]:
    """The file in pieces, none of which ends within a word."""
    start = 0
    while start < len(data):
        end = start + _PART
        while end < len(data) and data[end] in WORD:
            end += 1
        yield data[start:end]
        start = end
