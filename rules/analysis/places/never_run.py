"""Tests that are skipped under no condition: nothing in them runs."""

from __future__ import annotations

import ast
from itertools import takewhile

from torchlift.view import ModuleView

_MARKS = frozenset({"pytest.mark.skip", "unittest.skip"})
_LEAVE = frozenset({"pytest.skip", "pytest.skip.Exception", "unittest.SkipTest"})
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def is_skipped(view: ModuleView, node: ast.AST) -> bool:
    """Whether `node` stands in a test, a class of tests or a file of tests that is skipped whatever happens."""
    if "skip" not in view.source.text and "Skip" not in view.source.text:
        return False
    around = [node, *view.ancestors(node)]
    definitions = [one for one in around if isinstance(one, _DEFINITIONS)]
    if any(_is_mark(view, mark) for one in definitions for mark in one.decorator_list):
        return True
    bodies = [view.tree.body, *(one.body for one in definitions if isinstance(one, ast.ClassDef))]
    if any(_marks_all(view, statement) for body in bodies for statement in body):
        return True
    before = takewhile(lambda statement: statement not in around, view.tree.body)
    return any(_leaves_file(view, statement) for statement in before)


def _is_mark(view: ModuleView, node: ast.expr) -> bool:
    return view.possible_name(node.func if isinstance(node, ast.Call) else node) in _MARKS


def _marks_all(view: ModuleView, statement: ast.stmt) -> bool:
    """Whether a statement is `pytestmark = pytest.mark.skip(...)`, or a list with such a mark."""
    match statement:
        case ast.Assign(targets=[ast.Name(id="pytestmark")], value=ast.List(elts=marks) | ast.Tuple(elts=marks)):
            return any(_is_mark(view, mark) for mark in marks)
        case ast.Assign(targets=[ast.Name(id="pytestmark")], value=mark):
            return _is_mark(view, mark)
    return False


def _leaves_file(view: ModuleView, statement: ast.stmt) -> bool:
    """Whether a statement of the file itself is `pytest.skip("why", allow_module_level=True)`, or raises what that raises."""
    node = getattr(statement, "value" if isinstance(statement, ast.Expr) else "exc", None)
    return isinstance(node, ast.Call) and view.possible_name(node.func) in _LEAVE
