"""Edits that remove statements, whole definitions among them, and leave the blank lines that style guides expect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from torchlift.finding import DeleteStatement, TextEdit
from torchlift.migrate.fix.rewrite.lines import alone, line_end, statement_at
from torchlift.source import Span
from torchlift.view import ModuleView

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def delete_statements(view: ModuleView, deletions: Sequence[DeleteStatement]) -> list[TextEdit]:
    """Edits that remove statements; a block that would be left empty keeps a `pass`.

    Raises:
        CannotEdit: a statement is not there, or shares its line in a way that cannot be undone safely.
    """
    wanted: dict[ast.stmt, DeleteStatement] = {}
    for deletion in sorted(deletions, key=lambda deletion: deletion.span):
        statement = statement_at(view, deletion.span)
        known = wanted.get(statement, deletion)
        wanted[statement] = DeleteStatement(deletion.span, max(known.comments, deletion.comments))
    outermost = [item for item in wanted if not any(around in wanted for around in view.ancestors(item))]
    edits: list[TextEdit] = []
    for run in _runs(view, outermost, wanted):
        whole = all(alone(view.source, view.span(item)) for item in run)
        if whole or any(_is_compound(item) or wanted[item].comments for item in run):
            edits.append(_whole_lines(view, run, wanted[run[0]].comments, {*outermost}))
        else:
            edits += _simple(view, run, {*outermost})
    return edits


def _is_compound(statement: ast.stmt) -> bool:
    return hasattr(statement, "body") or isinstance(statement, ast.Match)


def _runs(
    view: ModuleView, statements: Sequence[ast.stmt], wanted: Mapping[ast.stmt, DeleteStatement]
) -> Iterator[list[ast.stmt]]:
    """Statements that follow each other in one block, with no comment between them that stays, together."""
    run: list[ast.stmt] = []
    for statement in statements:
        if run:
            block = view.block(run[-1])
            index = block.index(run[-1]) + 1
            own = 0 if isinstance(statement, _DEFINITIONS) else wanted[statement].comments
            stays = _comments_between(view, run[-1], statement) > own
            if index < len(block) and block[index] is statement and not stays:
                run.append(statement)
                continue
            yield run
        run = [statement]
    if run:
        yield run


def _comments_between(view: ModuleView, before: ast.stmt, after: ast.stmt) -> int:
    """Number of lines with a comment between two statements."""
    gap = view.source.text[line_end(view.source, view.span(before).end) : _start(view, after)]
    return sum("#" in line for line in gap.splitlines())


def _start(view: ModuleView, statement: ast.stmt) -> int:
    """Where the first line of a statement begins, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first = min((view.span(decorator).start for decorator in decorators), default=view.span(statement).start)
    return view.source.line_starts[view.source.location(first)[0] - 1]


def _whole_lines(view: ModuleView, run: Sequence[ast.stmt], comments: int, gone: set[ast.stmt]) -> TextEdit:
    """One edit for statements that have their lines to themselves, with comment lines right above and blank lines around."""
    source, block = view.source, view.block(run[0])
    first = source.location(_start(view, run[0]))[0] - comments
    if comments and first > 1 and source.line(first - 1).rstrip("\r\n").endswith("\\"):
        first += 1  # a comment that the line above goes on into stays with it
    begin, end = source.line_starts[first - 1], line_end(source, view.span(run[-1]).end)
    if run[0] is block[0] and gone.issuperset(block) and not isinstance(view.parent(run[0]), ast.Module):
        if (clause := _else_clause(view, block)) is not None:
            return clause
        return TextEdit(Span(begin + len(source.indentation(begin)), view.span(run[-1]).end), "pass")
    if not all(alone(source, view.span(item)) for item in (run[0], run[-1])):
        return TextEdit(Span(view.span(run[0]).start, view.span(run[-1]).end), "pass")
    above, below = _blank_lines(view, first - 1, -1), _blank_lines(view, source.location(end)[0], 1)
    if run[-1] is block[-1]:  # what sets the next block apart stays
        return TextEdit(Span(source.line_starts[first - 1 - above], end), "")
    last = source.location(end)[0] + (below if run[0] is block[0] and not above else min(above, below))
    return TextEdit(Span(begin, source.line_starts[last - 1] if last <= len(source.line_starts) else end), "")


def _else_clause(view: ModuleView, block: list[ast.stmt]) -> TextEdit | None:
    """The edit that takes away the whole `else` whose statements are `block`; None if it is none that stands by itself."""
    owner, source = view.parent(block[0]), view.source
    if not isinstance(owner, (ast.If, ast.For, ast.While)) or owner.orelse is not block:
        return None
    begin, end = (line_end(source, view.span(items[-1]).end) for items in (owner.body, block))
    head = source.text[begin : view.span(block[0]).start]
    return TextEdit(Span(begin, end), "") if re.fullmatch(r"\s*else\s*:[ \t]*\r?\n?\s*", head) else None


def _blank_lines(view: ModuleView, line: int, step: int) -> int:
    """How many blank lines there are from a line (1-based) on, upwards or downwards; the end of the file is none."""
    source, count = view.source, 0
    while 1 <= line < len(source.line_starts) and not source.line(line).strip():
        if line > 1 and source.line(line - 1).rstrip("\r\n").endswith("\\"):
            break  # it ends a line that goes on
        count, line = count + 1, line + step
    return count


def _simple(view: ModuleView, run: Sequence[ast.stmt], gone: set[ast.stmt]) -> Iterator[TextEdit]:
    source = view.source
    for statement in run:
        block = view.block(statement)
        keep = [item for item in block if item not in gone]
        span = view.span(statement)
        if not keep and not isinstance(view.parent(statement), ast.Module) and block[0] is statement:
            yield _else_clause(view, block) or TextEdit(span, "pass")
            continue
        if alone(source, span):
            start, end = source.line_starts[source.location(span.start)[0] - 1], line_end(source, span.end)
            yield TextEdit(Span(start, end), "")
            continue
        index = block.index(statement)
        if index + 1 < len(block) and not _newline_between(view, span.end, view.span(block[index + 1]).start):
            yield TextEdit(Span(span.start, view.span(block[index + 1]).start), "")
        elif index > 0 and not _newline_between(view, view.span(block[index - 1]).end, span.start):
            yield TextEdit(Span(view.span(block[index - 1]).end, span.end), "")
        else:
            yield TextEdit(span, "pass")


def _newline_between(view: ModuleView, start: int, end: int) -> bool:
    return view.source.location(start)[0] != view.source.location(end)[0]
