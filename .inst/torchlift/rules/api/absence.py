"""Code that copes with a name that is not there, in ways that no test of a version shows."""

from __future__ import annotations

import ast

from torchlift.rules.analysis.places.order import leaves
from torchlift.view import ModuleView
from torchlift.view.guards import catches_anything, tests_release
from torchlift.view.walk import walk


def copes_without(view: ModuleView, node: ast.AST) -> bool:
    """Whether what surrounds `node` already says what happens on a torch that lacks the name.

    An import inside a `try` whose handler takes any error, and code behind an `if` or an `assert` about the release that
    leaves the function, the loop or the file.
    """
    child = node
    for ancestor in view.ancestors(node):
        if isinstance(ancestor, ast.Try) and isinstance(child, (ast.Import, ast.ImportFrom)):
            tried = any(child is statement for statement in ancestor.body)
            if tried and any(map(catches_anything, ancestor.handlers)):
                return True
        if isinstance(child, ast.stmt) and _left_before(view, child):
            return True
        child = ancestor
    return False


def asks_for(view: ModuleView, node: ast.AST, word: str) -> bool:
    """Whether `node` runs under a condition that names `word` in a text: code that looks for a parameter before using it."""
    child = node
    for ancestor in view.ancestors(node):
        tested = ancestor.test if isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test else None
        if tested is not None and any(isinstance(part, ast.Constant) and part.value == word for part in walk(tested)):
            return True
        child = ancestor
    return False


def _left_before(view: ModuleView, statement: ast.stmt) -> bool:
    """Whether an earlier statement of the same block leaves it, depending on the release."""
    for earlier in view.block(statement):
        if earlier is statement:
            return False
        if isinstance(earlier, ast.Assert) and tests_release(view, earlier.test):
            return True
        if not isinstance(earlier, ast.If):
            continue
        if leaves(earlier.body) and tests_release(view, earlier.test):
            return True
    return False
