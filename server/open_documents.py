"""What is open in the editor: files, and notebooks with a document for each cell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from lsprotocol import types

from torchlift.finding import Finding
from torchlift.lazy_dataclass import dataclass
from torchlift.notebook.source import NotebookSource
from torchlift.server.positions import Positions
from torchlift.source import SourceText


@dataclass(frozen=True)
class OpenCell:
    """A cell of a notebook.

    Attributes:
        uri: what the editor calls its document.
        number: its place among all cells, text included, from 1.
        text: what stands in it.
        version: of its document.
    """

    uri: str
    number: int
    text: str
    version: int | None


@dataclass
class OpenDocument:
    """A file that is being edited, as the editor told it last.

    Attributes:
        uri: what the editor calls it.
        path: the file.
        text: what it holds now; of a notebook, a file of nbformat 4 with the same cells.
        version: of the whole.
        cells: of a notebook, its cells of Python.
    """

    uri: str
    path: Path
    text: str
    version: int | None
    cells: tuple[OpenCell, ...] = ()

    def cell(self, uri: str) -> OpenCell | None:
        """The cell whose document that is."""
        return next((cell for cell in self.cells if cell.uri == uri), None)

    def parts(self) -> Iterator[tuple[str, int | None, int | None]]:
        """The documents that findings are shown in: address, version, and the number of the cell."""
        if self.path.suffix != ".ipynb":
            yield self.uri, self.version, None
        for cell in self.cells:
            yield cell.uri, cell.version, cell.number


def open_notebook(
    notebook: types.NotebookDocument, path: Path, read: Callable[[str], tuple[str, str | None, int | None]]
) -> OpenDocument:
    """A notebook as the editor has it.

    Args:
        notebook: its cells, in order.
        path: its file.
        read: text, language and version of the document of a cell.
    """
    cells, written = [], []
    for number, cell in enumerate(notebook.cells, 1):
        text, language, version = read(cell.document)
        is_python = cell.kind is types.NotebookCellKind.Code and language == "python"
        if is_python:
            cells.append(OpenCell(cell.document, number, text, version))
        written.append({"cell_type": "code" if is_python else "raw", "source": text})
    file = json.dumps({"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    return OpenDocument(notebook.uri, path, file, notebook.version, tuple(cells))


class CellPositions(Positions):
    """Places in a notebook's Python, and positions in the document of one of its cells.

    Args:
        source: the whole notebook.
        cell: the cell.
        encoding: as of `Positions`.
    """

    def __init__(self, source: NotebookSource, cell: OpenCell, encoding: str) -> None:
        super().__init__(cell.text, encoding)
        self._source = source
        self._first = source.first_line(cell.number)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and code unit in the cell of an offset in the notebook; of one outside, those of the nearest end."""
        line = self._source.location(offset)[0] - self._first
        if not 0 <= line < len(self._starts):
            return super().position(0 if line < 0 else len(self._text))
        # A command for a shell stands behind a mark that its author has not written.
        hidden = self._source.column(offset) - 1
        start = self._starts[line]
        stop = self._starts[line + 1] - 1 if line + 1 < len(self._starts) else len(self._text)
        return super().position(min(start + hidden, stop))

    def offset(self, line: int, unit: int) -> int:
        """The offset in the notebook of a position in the cell."""
        line = min(line, len(self._starts) - 1)
        written = super().offset(line, unit) - self._starts[line]
        number = self._first + line
        return self._source.line_starts[number - 1] + self._source.hidden(number) + written


def positions_in(source: SourceText, document: OpenDocument, uri: str, encoding: str) -> Positions:
    """Places in what was looked at, as positions in the document with that address: the file's, or that of one of its cells."""
    cell = document.cell(uri)
    if cell is None:
        return Positions(document.text, encoding)
    if not isinstance(source, NotebookSource) or all(known.number != cell.number for known in source.cells):
        return Positions(cell.text, encoding)  # the notebook could not be read: nothing is found in it
    return CellPositions(source, cell, encoding)


def found_in(findings: list[Finding], source: SourceText, number: int | None) -> list[Finding]:
    """The findings that begin in one cell; all of them where there are no cells."""
    if number is None:
        return findings
    return [one for one in findings if source.part(source.location(one.span.start)[0]).number == number]


def edited_parts(
    before: SourceText, after: SourceText, document: OpenDocument | None
) -> Iterator[tuple[str | None, SourceText, SourceText]]:
    """Texts before and after an edit of one file: of each cell that changes with the address of its document, if it is an open notebook.

    A notebook that is not open is edited as the text of its file.
    """
    if not isinstance(before, NotebookSource) or not isinstance(after, NotebookSource):
        yield None, before, after
    elif document is None:
        yield None, SourceText.from_bytes(before.to_bytes()), SourceText.from_bytes(after.to_bytes())
    else:
        texts = dict(zip((cell.number for cell in after.cells), after.cell_texts(after.text) or (), strict=False))
        for cell in document.cells:
            if texts.get(cell.number, cell.text) != cell.text:
                yield cell.uri, SourceText(cell.text), SourceText(texts[cell.number])
