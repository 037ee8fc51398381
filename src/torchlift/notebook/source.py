"""A notebook as one text of Python: its cells of code in their order, which a line of its own keeps apart."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from torchlift.notebook.cells import Cell, code_cells
from torchlift.notebook.magics import MARK, blanked, commands, masked, unmasked
from torchlift.source import CountedLines, SourceText, Span, UnreadableSource

_BETWEEN = "# %% cell "


def searched(data: bytes) -> bytes:
    """What stands in the cells of code of a notebook, in UTF-8, line by line as in its Python; magics are as they were.

    Raises:
        UnreadableSource: it is none.
    """
    _, raw = _decoded(data)
    cells = code_cells(raw)
    return _joined(cells, [cell.text for cell in cells]).encode("utf-8")


def _decoded(data: bytes) -> tuple[bool, str]:
    bom = data.startswith(codecs.BOM_UTF8)
    try:
        return bom, data[len(codecs.BOM_UTF8) if bom else 0 :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableSource(f"it cannot be decoded as utf-8 ({error})") from None


def _is_kept(line: str) -> bool:
    return MARK in line or line.startswith(_BETWEEN)


def _joined(cells: Sequence[Cell], texts: Sequence[str]) -> str:
    marked = (f"\n{_BETWEEN}{cell.number}\n{text}" for cell, text in zip(cells[1:], texts[1:], strict=True))
    return "".join([*texts[:1], *marked])


@dataclass(frozen=True)
class NotebookSource(SourceText):
    """The Python of a notebook.

    `text` is jupytext's percent format without what stands in cells of text; magics are comments (see `magics`).

    Attributes:
        raw: text of the file.
        cells: its cells of code.
        unparsed: numbers of those that are no Python, which are comments as a whole.
    """

    raw: str = ""
    cells: tuple[Cell, ...] = ()
    unparsed: frozenset[int] = frozenset()

    @classmethod
    def of_file(cls, data: bytes) -> NotebookSource:
        """The notebook in the bytes of a file.

        Raises:
            UnreadableSource: it is none.
        """
        bom, raw = _decoded(data)
        cells = tuple(code_cells(raw))
        texts, unparsed = [], []
        for cell in cells:
            text = masked(cell.text)
            texts.append(blanked(cell.text) if text is None else text)
            unparsed += [cell.number] if text is None else []
        source = cls(_joined(cells, texts), bom=bom, raw=raw, cells=cells, unparsed=frozenset(unparsed))
        if source.cell_texts(source.text) != [cell.text for cell in cells]:
            raise UnreadableSource("its cells cannot be told apart once they are one text")
        return source

    def cell_texts(self, text: str) -> list[str] | None:
        """The source of each cell if the notebook's Python is `text`; None if they cannot be told apart in it."""
        found = []
        for cell in reversed(self.cells[1:]):
            text, mark, own = text.rpartition(f"\n{_BETWEEN}{cell.number}\n")
            if not mark:
                return None
            found.append(unmasked(own))
        return [*([unmasked(text)] if self.cells else []), *reversed(found)]

    def replaced(self, text: str) -> NotebookSource:
        """The same notebook with other Python."""
        return replace(self, text=text)

    def to_bytes(self) -> bytes:
        """The file's bytes; lines of cells that are as they were stay as they were written.

        Raises:
            UnreadableSource: the cells cannot be told apart in the text.
        """
        texts = self.cell_texts(self.text)
        if texts is None:
            raise UnreadableSource("its cells can no longer be told apart")
        parts, at = [], 0
        for cell, text in zip(self.cells, texts, strict=True):
            if text != cell.text:
                parts += [self.raw[at : cell.start], cell.with_text(self.raw, text)]
                at = cell.end
        body = "".join([*parts, self.raw[at:]]).encode("utf-8")
        return codecs.BOM_UTF8 + body if self.bom else body

    def searched(self) -> bytes:
        """The Python, in UTF-8."""
        return self.text.encode("utf-8")

    def hidden(self, line: int) -> int:
        """Length of what stands before the text of a line that IPython runs."""
        before, mark, _ = self.line(line).partition(MARK)
        return len(before) + len(mark) if mark else 0

    def written(self, span: Span) -> tuple[int, int, int, int]:
        """Lines and columns in the file's JSON: the strings that a span stands in."""
        file, text = self._file
        begin, end = (file._literal(self.location(offset)[0]) for offset in (span.start, max(span.start, span.end - 1)))
        return *text.location(begin[0]), *text.location(end[1])

    @cached_property
    def _file(self) -> tuple[NotebookSource, SourceText]:
        """The notebook that this one is written as, and the text of its file."""
        file = NotebookSource.of_file(self.to_bytes())
        return file, SourceText(file.raw)

    def _literal(self, line: int) -> tuple[int, int]:
        """Where the string begins and ends that holds a place of the Python."""
        part = self.part(line)
        cell = next(cell for cell in self.cells if cell.number == part.number)
        wanted = line - part.first
        for begin, end, value in cell.literals:
            wanted -= value.count("\n")
            if wanted < 0:
                return begin, end
        return (begin, end) if cell.literals else (cell.start, cell.end)

    @cached_property
    def kept_spans(self) -> list[Span]:
        """The lines that are no Python of the notebook's: between cells, and what IPython runs."""
        ends = (start + len(self.line(number)) for number, start in enumerate(self.line_starts, 1))
        lines = (Span(start, end) for start, end in zip(self.line_starts, ends, strict=True))
        return [span for span in lines if _is_kept(self.slice(span))]

    @property
    def kept_lines(self) -> list[str]:
        """Their texts."""
        return [self.slice(span) for span in self.kept_spans]

    @cached_property
    def commands(self) -> SourceText:
        """The commands for a shell in it, as a text in which they stand where they stand here."""
        return SourceText(commands(self.text))

    def part(self, line: int) -> CountedLines:
        """The cell that a line stands in."""
        firsts = self._firsts
        if not firsts:
            return super().part(line)
        index = max(0, bisect_right(firsts, line) - 1)
        last = firsts[index + 1] - 2 if index + 1 < len(firsts) else len(self.line_starts)
        return CountedLines(self.cells[index].number, firsts[index], max(firsts[index], last))

    def first_line(self, number: int) -> int:
        """The line in which the cell of that number begins."""
        return self._firsts[[cell.number for cell in self.cells].index(number)]

    @cached_property
    def _firsts(self) -> list[int]:
        """The first line of each cell in the text as it is."""
        texts = self.cell_texts(self.text) or [cell.text for cell in self.cells]
        return list(accumulate((text.count("\n") + 2 for text in texts[:-1]), initial=1)) if texts else []
