"""Edits of lines: which decorators and comments go, and where new lines may stand."""

from __future__ import annotations

import ast
from functools import lru_cache

from torchlift.finding import TextEdit
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.fix.rewrite.fragments import CannotEdit
from torchlift.source import SourceText, Span
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_BLANK = " \t\f"
_OF_DECORATOR = lazy_pattern(
    r"(?i)^#\s*(?:noqa|type:|pragma|pylint|pyright|mypy|fmt|ruff)|jit|script|compil|trac|decorat|fus"
)


def statement_at(view: ModuleView, span: Span) -> ast.stmt:
    """The statement that covers exactly `span`.

    Raises:
        CannotEdit: there is none.
    """
    found = _statements(view).get(span)
    if found is None:
        raise CannotEdit("The statement to change is not where it was expected.")
    return found


@lru_cache(maxsize=1)
def _statements(view: ModuleView) -> dict[Span, ast.stmt]:
    """Every statement of a file, of which many may be asked for."""
    return {view.span(node): node for node in walk(view.tree) if isinstance(node, ast.stmt)}


def line_end(source: SourceText, offset: int) -> int:
    """Offset behind the newline of the line holding `offset`."""
    line, _ = source.location(offset)
    return source.line_starts[line] if line < len(source.line_starts) else len(source.text)


def alone(source: SourceText, span: Span) -> bool:
    """Whether nothing but white space and a comment shares the statement's lines."""
    start = source.line_starts[source.location(span.start)[0] - 1]
    before = source.text[start : span.start]
    after = source.text[span.end : line_end(source, span.end)].strip(_BLANK + "\r\n")
    return not before.strip(_BLANK) and (not after or after.startswith("#"))


def drop_decorator(view: ModuleView, span: Span) -> TextEdit:
    """Remove the line (or lines) of a decorator; a remark behind it stays, unless it speaks to a tool or of compilers.

    Raises:
        CannotEdit: the `@` is not on the same line as the start of the expression.
    """
    source = view.source
    start = source.line_starts[source.location(span.start)[0] - 1]
    head = source.text[start : span.start].strip(_BLANK)
    if head not in {"@", "@("}:
        raise CannotEdit("The decorator to remove does not start its line.")
    tail = source.text[span.end : line_end(source, span.end)].strip(_BLANK + "\r\n").removeprefix(")" * (len(head) - 1))
    if tail and not tail.lstrip(_BLANK).startswith("#"):
        raise CannotEdit("Something else stands on the line of the decorator to remove.")
    kept = tail.lstrip(_BLANK)
    if not kept or _OF_DECORATOR.search(kept) is not None:
        return TextEdit(Span(start, line_end(source, span.end)), "")
    return TextEdit(Span(start, line_end(source, span.end)), f"{source.indentation(span.start)}{kept}{source.newline}")


def insert_lines(view: ModuleView, span: Span, lines: list[str], where: str) -> TextEdit:
    """Put whole lines before or after the simple statement at `span`.

    Raises:
        CannotEdit: the statement shares its line with another one or with the head of its block.
    """
    source = view.source
    if not alone(source, span):
        raise CannotEdit("The statement next to the new code shares its line with other code.")
    indent = source.indentation(span.start)
    text = "".join(f"{indent}{line}{source.newline}" if line else source.newline for line in lines)
    if where == "before":
        start = source.line_starts[source.location(span.start)[0] - 1]
        return TextEdit(Span(start, start), text)
    end = line_end(source, span.end)
    if end == len(source.text) and not source.text.endswith(("\n", "\r")):
        text = source.newline + text.removesuffix(source.newline)
    return TextEdit(Span(end, end), text)


def edit_comment(source: SourceText, span: Span, text: str) -> TextEdit:
    """Replace a comment, or remove it with the white space before it and, if it stands alone, its line.

    The line stays, empty, where a backslash ends the line above: it would go on into what follows.
    """
    if text:
        return TextEdit(span, text)
    line, _ = source.location(span.start)
    start = source.line_starts[line - 1]
    before = source.text[start : span.start]
    goes_on = line > 1 and source.line(line - 1).rstrip("\r\n").endswith("\\")
    if not before.strip(_BLANK) and not goes_on:
        return TextEdit(Span(start, line_end(source, span.end)), "")
    return TextEdit(Span(start + len(before.rstrip(_BLANK)), span.end), "")
