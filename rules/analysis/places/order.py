"""What runs before what: blocks that control leaves at their end, statements that have surely run or cannot have."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from torchlift.view import ModuleView

LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
"""Statements after which the rest of their block does not run."""
LEAVING_QUIETLY = (ast.Return, ast.Continue, ast.Break)
"""Those of them that are no error."""

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def leaves(block: Sequence[ast.stmt], how: tuple[type[ast.stmt], ...] = LEAVING) -> bool:
    """Whether a block ends with a statement that leaves what it stands in."""
    return bool(block) and isinstance(block[-1], how)


def running(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """`nodes` and all below them that runs when they do: not the bodies of functions and classes that are defined there."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def run_before(view: ModuleView, at: ast.AST) -> Iterator[ast.stmt]:
    """Statements that surely ran before `at` in its function, the nearest first; none from in front of an `except` around it."""
    statement: ast.AST | None = view.statement(at)
    function = view.function_of(at)
    while isinstance(statement, ast.stmt) and statement is not function:
        block = view.block(statement)
        yield from reversed(block[: block.index(statement)])
        above = view.parent(statement)
        statement = view.parent(above) if isinstance(above, ast.match_case) else above


def has_surely_run(view: ModuleView, statement: ast.stmt, at: ast.AST) -> bool:
    """Whether `statement` stands in front of `at` in a block around both, so that it runs first whenever `at` does."""
    inside = {at, *view.ancestors(at)}
    block = view.block(statement)
    return any(later in inside for later in block[block.index(statement) + 1 :])


def runs_later(view: ModuleView, node: ast.AST, statement: ast.stmt) -> bool:
    """Whether `node` can only run after `statement`: later in the same function, and not in a loop around both."""
    own = view.statement(node)
    if (own.lineno, own.col_offset) <= (statement.lineno, statement.col_offset):
        return False
    if view.function_of(node) is not view.function_of(statement):
        return False
    around = list(view.ancestors(node))
    if any(isinstance(ancestor, (ast.Lambda, ast.ClassDef)) for ancestor in around):
        return False
    loops = {ancestor for ancestor in view.ancestors(statement) if isinstance(ancestor, _LOOPS)}
    return loops.isdisjoint(around)


def excludes(view: ModuleView, first: ast.AST, second: ast.AST) -> bool:
    """Whether two nodes stand in different branches of one `if`, so that one run never passes both."""
    above = {ancestor: child for child, ancestor in view.upwards(first)}
    for child, ancestor in view.upwards(second):
        other = above.get(ancestor)
        if other is not None:
            return isinstance(ancestor, ast.If) and {_branch(ancestor, child), _branch(ancestor, other)} == {1, 2}
    return False


def _branch(node: ast.If, child: ast.AST) -> int:
    return 1 if child in node.body else 2 if child in node.orelse else 0
