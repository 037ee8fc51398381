"""Places in source text that outlive edits elsewhere: what a recorder saw, tied to text by hashes.

Standard library only, and Python 3.10 is enough: a recorder may carry a copy of this file into the program it watches.

A hash is that of a text without what never matters: newlines as LF, no white space at the end of lines, no empty lines,
and the indentation of the line in which the text begins taken off the others. Comments count.
"""

from __future__ import annotations

import ast
import hashlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from torchlift.lazy_pattern import lazy_pattern

_NEWLINE = lazy_pattern(r"\r\n|\r|\n")
_HEX_DIGITS = 16

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class SourcePlace:
    """One call, decorator or definition in a file; lines and columns count from one, columns in code points.

    Attributes:
        line, column: where it begins; a definition that a decorator captures begins at that decorator's expression.
        end_line, end_column: where the expression ends, exclusive.
        qualname: functions and classes around it.
        text_sha: hash of the call, of the whole definition for a decorator.
        scope_sha: hash of the outermost function around it; where there is none, of the decorated definition or the file.
        nth: how many places of the same hash stand before it.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    qualname: str
    text_sha: str
    scope_sha: str
    nth: int


def text_sha(text: str, start: int = 0, end: int | None = None) -> str:
    """Hash of `text[start:end]`, where the whole `text` tells how far the first line is indented."""
    first = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    opening = text[first:start]
    indentation = len(opening) - len(opening.lstrip(" \t\f"))
    lines = _NEWLINE.split(text[start:end])
    kept = [lines[0].rstrip()]
    for line in lines[1:]:
        blank = len(line) - len(line.lstrip(" \t\f"))
        kept.append(line[min(blank, indentation) :].rstrip())
    whole = "\n".join(line for line in kept if line)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_HEX_DIGITS]


class PlacesOf:
    """The places of one file.

    Args:
        text: decoded source, without a byte-order mark.
        tree: what `ast.parse` makes of it, if that is known already.

    Raises:
        SyntaxError: the text is no Python for this interpreter; also ValueError, RecursionError or MemoryError, as of `ast.parse`.
    """

    def __init__(self, text: str, tree: ast.Module | None = None) -> None:
        self.text = text
        self.tree = tree or ast.parse(text)
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
        self._places: list[tuple[tuple[int, int, int, int], SourcePlace]] | None = None
        self._by_name: dict[str, list[_Definition]] | None = None
        self._shas: dict[_Definition, str] = {}

    def at(
        self, line: int, column: int | None = None, end_line: int | None = None, end_column: int | None = None
    ) -> SourcePlace | None:
        """The place that an instruction belongs to; None if there is no single one.

        Args:
            line: line of the instruction, from one (`frame.f_lineno`, or what `code.co_positions()` says).
            column, end_line, end_column: as `co_positions()` says, columns in bytes of UTF-8 from zero; None if unknown.
        """
        found = [(where, place) for where, place in self._all() if where[0] == line or where[2] == end_line]
        if end_line is not None and end_column is not None:
            # The end alone: where a method is called, newer interpreters begin at its name.
            ends = [(where, place) for where, place in found if where[2:] == (end_line, end_column)]
            exact = [place for where, place in ends if where[:2] == (line, column)]
            if exact or len(ends) == 1:
                return exact[0] if exact else ends[0][1]
        on_line = [place for where, place in found if where[0] == line]
        return on_line[0] if len(on_line) == 1 else None

    def on_line(self, line: int, name: str) -> SourcePlace | None:
        """The only place that begins on a line and ends with a name in its callee: all that Python 3.10 can tell."""
        fitting = [
            place for where, place in self._all() if where[0] == line and self._callee(place).rpartition(".")[2] == name
        ]
        return fitting[0] if len(fitting) == 1 else None

    def definition(self, qualname: str, line: int | None = None) -> tuple[int, str] | None:
        """Line and hash of a class or function, decorators included; None if it is not there, or not the only one.

        Args:
            qualname: as Python's, with or without `<locals>`.
            line: any line of it, to choose among several.
        """
        wanted = qualname.replace(".<locals>", "")
        found = self._named().get(wanted, [])
        if len(found) > 1 and line is not None:
            found = [node for node in found if _first_line(node) <= line <= (node.end_lineno or line)]
        if len(found) != 1:
            return None
        return _first_line(found[0]), self._sha_of_definition(found[0])

    def all(self) -> list[SourcePlace]:
        """Every call and decorator, in the order of the text."""
        return [place for _, place in self._all()]

    def _all(self) -> list[tuple[tuple[int, int, int, int], SourcePlace]]:
        if self._places is None:
            self._places = list(self._collected())
        return self._places

    def _collected(self) -> Iterator[tuple[tuple[int, int, int, int], SourcePlace]]:
        whole = text_sha(self.text)
        seen: dict[str, int] = {}
        for node, qualname, outermost, decorated in sorted(_calls(self.tree), key=lambda call: _position(call[0])):
            where = _position(node)
            start, end = self._offset(*where[:2]), self._offset(*where[2:])
            sha = text_sha(self.text, start, end) if decorated is None else self._sha_of_definition(decorated)
            around = outermost or decorated
            scope = whole if around is None else self._sha_of_definition(around)
            nth = seen.get(sha, 0)
            seen[sha] = nth + 1
            yield where, SourcePlace(*self._shown(start), *self._shown(end), qualname, sha, scope, nth)

    def _named(self) -> dict[str, list[_Definition]]:
        """All definitions by qualified name."""
        if self._by_name is None:
            self._by_name = {}
            for node, name, _ in _definitions(self.tree):
                self._by_name.setdefault(name, []).append(node)
        return self._by_name

    def _sha_of_definition(self, node: _Definition) -> str:
        if node not in self._shas:
            self._shas[node] = self._sha_of(node)
        return self._shas[node]

    def _sha_of(self, node: _Definition) -> str:
        first = _first_line(node)
        start = self._starts[first - 1]
        line = self.text[start : self._starts[first] if first < len(self._starts) else None]
        start += len(line) - len(line.lstrip(" \t\f"))
        return text_sha(self.text, start, self._offset(*_position(node)[2:]))

    def _callee(self, place: SourcePlace) -> str:
        start = self._starts[place.line - 1] + place.column - 1
        end = self._starts[place.end_line - 1] + place.end_column - 1
        return self.text[start:end].partition("(")[0].strip()

    def _offset(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return start + len(self.text[start:end].encode("utf-8")[:column].decode("utf-8", "ignore"))

    def _shown(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def _position(node: ast.expr | ast.stmt) -> tuple[int, int, int, int]:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _first_line(node: _Definition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _definitions(tree: ast.Module) -> Iterator[tuple[_Definition, str, _Definition | None]]:
    """Every definition with its qualified name and the outermost function around it."""
    stack: list[tuple[ast.AST, str, _Definition | None]] = [(tree, "", None)]
    while stack:
        node, name, outermost = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Definition):
                inner = f"{name}.{child.name}" if name else child.name
                yield child, inner, outermost
                is_function = not isinstance(child, ast.ClassDef)
                stack.append((child, inner, outermost or (child if is_function else None)))
            else:
                stack.append((child, name, outermost))


def _calls(tree: ast.Module) -> Iterator[tuple[ast.expr, str, _Definition | None, _Definition | None]]:
    """Every call and decorator, what is around it, and what is decorated."""
    stack: list[tuple[ast.AST, str, _Definition | None]] = [(tree, "", None)]
    while stack:
        node, name, outermost = stack.pop()
        decorators: list[ast.expr] = []
        if isinstance(node, _Definition):
            decorators = node.decorator_list
            for decorator in decorators:
                yield decorator, name, outermost, node
                stack += [(child, name, outermost) for child in ast.iter_child_nodes(decorator)]
            name = f"{name}.{node.name}" if name else node.name
            if outermost is None and not isinstance(node, ast.ClassDef):
                outermost = node
        elif isinstance(node, ast.Call):
            yield node, name, outermost, None
        stack += [(child, name, outermost) for child in ast.iter_child_nodes(node) if child not in decorators]
