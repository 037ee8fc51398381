"""Whether code belongs to a test, which would test nothing once what it tests is rewritten."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView


def enclosing_test(view: ModuleView, node: ast.AST, *, by_file: bool = True) -> str | None:
    """Name of the test that `node` stands in: a test function or, with `by_file`, a file of tests; None if none."""
    for ancestor in view.ancestors(node):
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)) and ancestor.name.startswith("test"):
            return ancestor.name
    file = view.path.rpartition("/")[2]
    if by_file and (file.startswith("test_") or file.endswith("_test.py")):
        return file
    return None
