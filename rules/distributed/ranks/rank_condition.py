"""Which test on its own rank decides whether a process reaches some code."""

from __future__ import annotations

import ast

from torchlift.rules.distributed.ranks.own_rank import differs_by_rank
from torchlift.view import ModuleView


def condition_on_own_rank(view: ModuleView, node: ast.AST) -> ast.expr | None:
    """The test on its own rank that decides whether a process reaches `node` in its function; None if there is none.

    Found are `if`, conditional expressions, `and`/`or`, and an earlier `if rank ...: return`.
    """
    child: ast.AST = node
    for ancestor in view.ancestors(node):
        if isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test:
            if differs_by_rank(view, ancestor.test, "plausible"):
                return ancestor.test
        elif isinstance(ancestor, ast.BoolOp) and child is not ancestor.values[0]:
            for value in ancestor.values[: ancestor.values.index(child)]:  # type: ignore[arg-type]
                if differs_by_rank(view, value, "plausible"):
                    return value
        if isinstance(child, ast.stmt):
            for earlier in _statements_before(view, child):
                leaves = isinstance(earlier, ast.If) and _ends(earlier.body) != _ends(earlier.orelse)
                if leaves and isinstance(earlier, ast.If) and differs_by_rank(view, earlier.test, "plausible"):
                    return earlier.test
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        child = ancestor
    return None


def _statements_before(view: ModuleView, statement: ast.stmt) -> list[ast.stmt]:
    block = view.block(statement)
    return block[: next(index for index, item in enumerate(block) if item is statement)]


def _ends(block: list[ast.stmt]) -> bool:
    """Whether a branch leaves the function or the loop's round without an error."""
    return bool(block) and isinstance(block[-1], (ast.Return, ast.Continue, ast.Break))
