"""Code whose errors somebody around it looks at: a `try`, a test that wants to see it fail."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView
from torchlift.view.handlers import caught
from torchlift.view.last_name import last_name

_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
TAKES_ERRORS = _EXPECTING | {"suppress"}
"""Last names of functions whose `with` block takes the errors that they name."""


def is_expected_to_fail(view: ModuleView, node: ast.AST) -> bool:
    """Whether a `with pytest.raises(...)` or `with self.assertRaises(...)` stands around `node`."""
    return any(
        isinstance(ancestor, (ast.With, ast.AsyncWith)) and not _EXPECTING.isdisjoint(_managers(ancestor))
        for ancestor in view.ancestors(node)
    )


def handler_around(view: ModuleView, node: ast.AST) -> str | None:
    """What takes the errors of `node` in the same function: `try`, or the last name of a context manager; None if nothing."""
    for child, ancestor in view.upwards(node):
        match ancestor:
            case ast.Try(handlers=[_, *_]) if child in ancestor.body:
                return "try"
            case ast.With() | ast.AsyncWith():
                name = next((name for name in _managers(ancestor) if name in TAKES_ERRORS), None)
                if name is not None:
                    return name
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                return None
    return None


def caught_around(view: ModuleView, node: ast.AST) -> set[str]:
    """Last names of the error classes that handlers around `node` name, in the same function; `BaseException` for a bare one."""
    names: set[str] = set()
    for child, ancestor in view.upwards(node):
        match ancestor:
            case ast.Try() if child in ancestor.body:
                names |= frozenset().union(*map(caught, ancestor.handlers))
            case ast.With() | ast.AsyncWith() if not TAKES_ERRORS.isdisjoint(_managers(ancestor)):
                for item in ancestor.items:
                    if isinstance(item.context_expr, ast.Call):
                        names |= {name for argument in item.context_expr.args[:1] for name in _last_names(argument)}
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                break
    return names


def _last_names(node: ast.expr) -> set[str]:
    if isinstance(node, ast.Tuple):
        return set().union(*(_last_names(element) for element in node.elts))
    return {ast.unparse(node).rpartition(".")[2]}


def _managers(statement: ast.With | ast.AsyncWith) -> list[str]:
    """The last names of the functions that make what a `with` statement enters."""
    called = [item.context_expr.func for item in statement.items if isinstance(item.context_expr, ast.Call)]
    return [last_name(node) for node in called]
