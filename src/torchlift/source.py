"""The text of one Python file, with nothing lost: encoding, byte-order mark, newlines, and where each line starts.

Every stage after this one speaks in character offsets into the decoded text. Line and column numbers are made only for
reports and for talking to `ast`, whose columns are UTF-8 byte offsets.
"""

from __future__ import annotations

import ast
import codecs
import io
import tokenize
from bisect import bisect_right
from dataclasses import dataclass  # not the lazy one, which has no `order`
from functools import cached_property
from itertools import accumulate, count
from operator import add

from torchlift.lazy_pattern import lazy_pattern

# The newlines of Python's own tokenizer. `str.splitlines` would also break at form feeds and Unicode separators.
_NEWLINE = lazy_pattern(r"\r\n|\r|\n")

# A keyword since Python 3.7, and before that the name of the parameter that torch calls `non_blocking`.
_OLD_ASYNC = lazy_pattern(r"(?<=[(,\s])async(?=\s*=[^=])")
OLD_ASYNC = "asynC"
"""What the argument `async=` of code for Python up to 3.6 is called in a tree; as long, so that every place stays."""


class UnreadableSource(Exception):
    """A file that cannot be turned into text without losing something; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range of characters `[start, end)` in the decoded text of one file."""

    start: int
    end: int

    def contains(self, other: Span) -> bool:
        """Whether `other` lies inside this span (equal spans contain each other)."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        """Whether the two spans share a character, or one is an insertion strictly inside the other."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class CountedLines:
    """Lines of a file that people count by themselves.

    Attributes:
        number: of the cell of a notebook; None for a whole file.
        first: the first line of them, 1-based, in the whole text.
        last: the last one.
    """

    number: int | None
    first: int
    last: int


@dataclass(frozen=True)
class SourceText:
    """Decoded source of one file.

    Attributes:
        text: the whole file without its byte-order mark, newlines as they are on disk.
        encoding: codec name to write it back with.
        bom: whether the file starts with a UTF-8 byte-order mark.
    """

    text: str
    encoding: str = "utf-8"
    bom: bool = False

    @classmethod
    def from_bytes(cls, data: bytes) -> SourceText:
        """Decode `data` as Python would (PEP 263).

        Raises:
            UnreadableSource: unknown encoding, undecodable bytes, NUL bytes, or a codec that does not round-trip.
        """
        if b"\0" in data:
            raise UnreadableSource("it contains NUL bytes, so it is not Python source")
        bom = data.startswith(codecs.BOM_UTF8)
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        except SyntaxError as error:
            raise UnreadableSource(f"its encoding cannot be determined ({error.msg or error})") from None
        encoding = "utf-8" if bom else encoding
        body = data[len(codecs.BOM_UTF8) :] if bom else data
        try:
            text = body.decode(encoding)
        except (UnicodeError, LookupError) as error:
            raise UnreadableSource(f"it cannot be decoded as {encoding} ({error})") from None
        source = cls(text, encoding, bom)
        if source.to_bytes() != data:
            raise UnreadableSource(f"decoding it as {encoding} and encoding it again changes its bytes")
        return source

    def to_bytes(self) -> bytes:
        """The file's bytes; for an unchanged text exactly what was read.

        Raises:
            UnicodeEncodeError: the text has a character its encoding lacks.
        """
        body = self.text.encode(self.encoding)
        return codecs.BOM_UTF8 + body if self.bom else body

    def replaced(self, text: str) -> SourceText:
        """The same file with other text."""
        return SourceText(text, self.encoding, self.bom)

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of the first character of each line; a final newline opens a last, empty line."""
        if "\r" not in self.text:
            ends = accumulate(map(len, self.text.split("\n")))
            return [0, *map(add, ends, count(1))][:-1]
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    @cached_property
    def newline(self) -> str:
        """The file's first newline sequence, used for inserted lines; a line feed where there is none."""
        match = _NEWLINE.search(self.text)
        return match.group() if match else "\n"

    @cached_property
    def _ascii(self) -> bool:
        return self.text.isascii()

    def parse(self, *, old_async: bool = True) -> ast.Module:
        """Parse with the running interpreter's grammar.

        Args:
            old_async: whether the argument `async=` of code for Python up to 3.6 is read as `OLD_ASYNC`, where nothing else
                is in the way.

        Raises:
            SyntaxError: the text is not valid for this interpreter.
            RecursionError, MemoryError: it is nested too deeply for the parser.
        """
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in user code are not ours to report
            try:
                return ast.parse(self.text)
            except SyntaxError:
                newer = _OLD_ASYNC.sub(OLD_ASYNC, self.text) if old_async else self.text
                if newer == self.text:
                    raise
                return ast.parse(newer)

    @cached_property
    def has_old_async(self) -> bool:
        """Whether it parses only with `async=` read as the name of an argument."""
        if _OLD_ASYNC.search(self.text) is None:
            return False
        try:
            self.parse(old_async=False)
        except SyntaxError:
            return True
        except (ValueError, RecursionError, MemoryError):
            pass  # told where the file is read
        return False

    def offset(self, line: int, byte_column: int) -> int:
        """Character offset of an `ast` position (1-based line, 0-based UTF-8 byte column)."""
        start = self.line_starts[line - 1]
        if self._ascii:
            return start + byte_column
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.text)
        return start + len(self.text[start:end].encode("utf-8")[:byte_column].decode("utf-8", "ignore"))

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg | ast.excepthandler) -> Span:
        """Characters covered by a node that carries a position."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return Span(
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno, node.end_col_offset),
        )

    def slice(self, span: Span) -> str:
        """The text inside `span`."""
        return self.text[span.start : span.end]

    def location(self, offset: int) -> tuple[int, int]:
        """1-based line and column (in code points) of a character offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def part(self, line: int) -> CountedLines:
        """The lines that a 1-based line is counted among: all of the file, or those of one cell of a notebook."""
        return CountedLines(None, 1, len(self.line_starts))

    def hidden(self, line: int) -> int:
        """How many characters at the start of a 1-based line are not its author's."""
        return 0

    def column(self, offset: int) -> int:
        """1-based column of a character as the author of its line counts."""
        line, column = self.location(offset)
        return max(1, column - self.hidden(line))

    def written(self, span: Span) -> tuple[int, int, int, int]:
        """1-based first line and column, and last line and column, of a span as an editor shows the file that it is written to."""
        return *self.location(span.start), *self.location(span.end)

    def searched(self) -> bytes:
        """What whoever looks for words of the file looks through: its bytes."""
        return self.to_bytes()

    def line(self, number: int) -> str:
        """Text of the 1-based line `number` without its newline."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def indentation(self, offset: int) -> str:
        """The white space that opens the line holding `offset`."""
        line = self.line(self.location(offset)[0])
        return line[: len(line) - len(line.lstrip(" \t\f"))]
