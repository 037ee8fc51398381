"""Where the source of each cell stands in a notebook's file, and how to put another in its place.

A notebook is JSON (`nbformat/v4/nbformat.v4.5.schema.json` of nbformat 5.11.1, read 2026-11-24). It is never
written anew: only the strings of changed lines are, so that indents, the order of keys and outputs stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import UnreadableSource

_BLANK = lazy_pattern(r"[ \t\n\r]*")
_LINE = lazy_pattern(r"[^\n]*\n|[^\n]+")
_ESCAPED = lazy_pattern(r"\\u(?:00[89a-f]|0[1-9a-f]|[1-9a-f])", re.IGNORECASE)
_NO_TEXT = lazy_pattern(r"[\ud800-\udfff\0]|\r(?!\n)")
"""What no file of Python can hold, or what would be another line of it: half of a UTF-16 pair, NUL, a carriage return alone."""
_value: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode


@dataclass(frozen=True)
class Cell:
    """A cell of code.

    Attributes:
        number: its place among all cells, text included, from 1.
        start, end: where the value of `source` stands in the file's text.
        literals: the strings in it: one, or a list of lines; each with its start, end and value.
        is_list: whether they stand in a list.
    """

    number: int
    start: int
    end: int
    literals: tuple[tuple[int, int, str], ...]
    is_list: bool

    @property
    def text(self) -> str:
        """The source."""
        return "".join(value for _, _, value in self.literals)

    def with_text(self, raw: str, text: str) -> str:
        """The value of `source` with another text, lines that stay as they were written.

        Args:
            raw: the file's text.
            text: the new source.
        """
        from difflib import SequenceMatcher

        ascii_only = raw.isascii() and _ESCAPED.search(raw) is not None
        if not self.is_list:
            return json.dumps(text, ensure_ascii=ascii_only)
        old = [value for _, _, value in self.literals]
        lines = _LINE.findall(text) if all("\n" not in value[:-1] for value in old) else _regrouped(old, text)
        if not lines:
            return "[]"
        written = [json.dumps(line, ensure_ascii=ascii_only) for line in lines]
        origin: list[int | None] = [None] * len(lines)
        for i, j, size in SequenceMatcher(None, old, lines, autojunk=False).get_matching_blocks():
            for step in range(size):
                begin, end, _ = self.literals[i + step]
                written[j + step], origin[j + step] = raw[begin:end], i + step
        lead, between, trail = self._layout(raw)
        parts = ["[", lead, written[0]]
        for before, after, literal in zip(origin, origin[1:], written[1:], strict=False):
            kept = before is not None and after == before + 1
            parts += [self._gap(raw, before) if kept and before is not None else between, literal]
        return "".join([*parts, trail, "]"])

    def _gap(self, raw: str, index: int) -> str:
        return raw[self.literals[index][1] : self.literals[index + 1][0]]

    def _layout(self, raw: str) -> tuple[str, str, str]:
        """What stands before, between and behind the strings of the list."""
        if not self.literals:
            return "", ", ", ""
        lead, trail = raw[self.start + 1 : self.literals[0][0]], raw[self.literals[-1][1] : self.end - 1]
        return lead, self._gap(raw, 0) if len(self.literals) > 1 else f",{lead or ' '}", trail


def _regrouped(old: list[str], text: str) -> list[str]:
    """`text` in strings of several lines, as `old` is: those that are not the same at either end become one."""
    start, head = 0, 0
    while head < len(old) and text.startswith(old[head], start):
        start, head = start + len(old[head]), head + 1
    end, tail = len(text), len(old)
    while tail > head and end - len(old[tail - 1]) >= start and text.endswith(old[tail - 1], start, end):
        end, tail = end - len(old[tail - 1]), tail - 1
    return [*old[:head], *([text[start:end]] if start < end else []), *old[tail:]]


def code_cells(raw: str) -> list[Cell]:
    """The cells of code, in order; none in a notebook of another language than Python.

    Raises:
        UnreadableSource: it is no notebook of nbformat 4, or a cell holds what is no text.
    """
    try:
        found = _notebook(raw)
    except (ValueError, IndexError, RecursionError) as error:
        raise UnreadableSource(f"it is no JSON of a Jupyter notebook ({error})") from None
    if found.major is not None and found.major < 4:
        raise UnreadableSource(
            f"it is a notebook of format {found.major}; `jupyter nbconvert --to notebook --inplace` makes it one of format 4"
        )
    if found.cells is None:
        raise UnreadableSource("it is no Jupyter notebook: it has no cells")
    if found.language not in {"", "python", "ipython"}:
        return []
    for cell in found.cells:
        wrong = _NO_TEXT.search(cell.text)
        if wrong is not None:
            raise UnreadableSource(f"its cell {cell.number} holds {wrong[0]!r}, which no file of Python can hold there")
    return found.cells


@dataclass
class _Notebook:
    cells: list[Cell] | None = None
    major: int | None = None
    language: str = ""


def _notebook(raw: str) -> _Notebook:
    found = _Notebook()

    def member(name: str, at: int) -> int:
        if name == "cells" and raw[at] == "[":
            if found.cells is not None:
                raise ValueError("it has two lists of cells")
            cells = found.cells = []
            return _array(raw, at, lambda number, start: _cell(raw, start, number + 1, cells))
        value, end = _value(raw, at)
        if name == "nbformat" and isinstance(value, int):
            found.major = value
        elif name == "metadata" and isinstance(value, dict):
            found.language = _language(value)
        return end

    _object(raw, _skip(raw, 0), member)
    return found


def _language(metadata: dict[str, Any]) -> str:
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(key)
        if isinstance(part, dict) and isinstance(part.get(name), str):
            return str(part[name]).lower()
    return ""


def _cell(raw: str, at: int, number: int, cells: list[Cell]) -> int:
    kinds: list[object] = []
    sources: list[Cell] = []

    def member(name: str, at: int) -> int:
        if name == "source" and raw[at] in '["':
            literals, end = _strings(raw, at)
            sources.append(Cell(number, at, end, literals, raw[at] == "["))
            return end
        value, end = _value(raw, at)
        if name == "cell_type":
            kinds.append(value)
        return end

    end = _object(raw, at, member)
    if len(sources) > 1 or len(kinds) > 1:
        raise ValueError(f"cell {number} says twice what it holds")
    if kinds == ["code"]:
        cells += sources
    return end


def _strings(raw: str, at: int) -> tuple[tuple[tuple[int, int, str], ...], int]:
    """The string or list of strings at `at`, and where it ends."""
    found: list[tuple[int, int, str]] = []

    def string(_: int, start: int) -> int:
        if raw[start] != '"':
            raise ValueError("a line of source is no string")
        value, end = _value(raw, start)
        found.append((start, end, value))
        return end

    end = string(0, at) if raw[at] == '"' else _array(raw, at, string)
    return tuple(found), end


def _array(raw: str, at: int, element: Callable[[int, int], int]) -> int:
    """Walk what stands in a pair of brackets: `element(index, start)` says where each ends; returns where all ends."""
    close = {"[": "]", "{": "}"}[raw[at]]
    at, index = _skip(raw, at + 1), 0
    if raw[at] == close:
        return at + 1
    while True:
        at = _skip(raw, element(index, at))
        if raw[at] == close:
            return at + 1
        if raw[at] != ",":
            raise ValueError("a comma was expected")
        at, index = _skip(raw, at + 1), index + 1


def _object(raw: str, at: int, member: Callable[[str, int], int]) -> int:
    """Walk an object: `member(name, start of the value)` says where the value ends; returns where all ends."""
    if raw[at] != "{":
        raise ValueError("an object was expected")

    def element(_: int, start: int) -> int:
        if raw[start] != '"':
            raise ValueError("a name was expected")
        name, end = _value(raw, start)
        colon = _skip(raw, end)
        if raw[colon] != ":":
            raise ValueError("a colon was expected")
        return member(name, _skip(raw, colon + 1))

    return _array(raw, at, element)


def _skip(raw: str, at: int) -> int:
    match = _BLANK.match(raw, at)
    return match.end() if match is not None else at
