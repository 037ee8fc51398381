"""Checks on a rewritten file before it may be written."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Sequence

from torchlift.finding import TextEdit
from torchlift.source import SourceText, Span
from torchlift.view import ModuleView
from torchlift.view.walk import walk


def problem_with(view: ModuleView, edits: Sequence[TextEdit], new: SourceText) -> str | None:
    """Why `new`, the text of `view` after `edits`, must not be written; None if it may be.

    It must encode, parse, and hold every statement outside the edits with the syntax tree it had.
    """
    try:
        new.to_bytes()
    except UnicodeEncodeError as error:
        return f"The new text cannot be encoded as {new.encoding} ({error.reason})."
    try:
        tree = new.parse(old_async=False)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"The new text does not parse ({error})."
    return _changed_statement(view, edits, new, tree)


def _changed_statement(view: ModuleView, edits: Sequence[TextEdit], new: SourceText, tree: ast.Module) -> str | None:
    starts = [edit.span.start for edit in edits]
    shifts = [0]
    for edit in edits:
        shifts.append(shifts[-1] + len(edit.text) - (edit.span.end - edit.span.start))
    by_place = {(type(node), new.span(node)): node for node in walk(tree) if isinstance(node, ast.stmt)}
    stack: list[ast.AST] = [view.tree]
    while stack:
        node = stack.pop()
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt):
                stack.append(child)
                continue
            span = view.span(child)
            first = bisect_right(starts, span.start)
            # Edits in front of a statement end where it starts or before; an edit that starts inside it touches it.
            touched = first < len(starts) and starts[first] < span.end
            touched = touched or (first > 0 and edits[first - 1].span.end > span.start)
            touched = touched or (
                first > 0 and starts[first - 1] == span.start and edits[first - 1].span.end > span.start
            )
            touched = touched or (first < len(edits) and _goes_on_with(view, span, edits[first]))
            if touched or _has_decorator_edit(view, child, edits):
                stack.append(child)
                continue
            shift = shifts[first]
            twin = by_place.get((type(child), Span(span.start + shift, span.end + shift)))
            if twin is None or not _same(twin, child):
                line, _ = view.source.location(span.start)
                return f"The statement on line {line} would change although no edit concerns it."
    return None


def _goes_on_with(view: ModuleView, span: Span, edit: TextEdit) -> bool:
    """Whether an insertion right behind the statement at `span` belongs to it: a name more, or a line of its last block."""
    if edit.span.start != edit.span.end or edit.span.start < span.end:
        return False
    if edit.span.start == span.end and edit.text.startswith(","):
        return True
    between = view.source.slice(Span(span.end, edit.span.start))
    column = view.source.location(span.start)[1] - 1
    line = edit.text.lstrip("\r\n")  # where the file ended without a newline, one comes first
    inserted = len(line) - len(line.lstrip(" \t"))
    # A form feed in a comment ends a line for Python's `splitlines` alone.
    one_line = not re.search(r"[\r\n]", re.sub(r"\r\n?$|\n$", "", between))
    return inserted > column and one_line and between.partition("#")[0].strip() == ""


def _same(left: ast.AST, right: ast.AST) -> bool:
    """Whether two trees are equal but for the places of their nodes."""
    pending: list[tuple[object, object]] = [(left, right)]
    while pending:
        one, other = pending.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            pending += [(getattr(one, name, None), getattr(other, name, None)) for name in one._fields]
        elif isinstance(one, list):
            assert isinstance(other, list)
            if len(one) != len(other):
                return False
            pending += zip(one, other, strict=True)
        elif one is not other and repr(one) != repr(other):  # 0.0 equals -0.0, and a NaN not even itself
            return False
    return True


def _has_decorator_edit(view: ModuleView, node: ast.stmt, edits: Sequence[TextEdit]) -> bool:
    decorators = [view.span(decorator) for decorator in getattr(node, "decorator_list", ())]
    return any(edit.span.overlaps(span) for edit in edits for span in decorators)
