"""Whether code belongs to a test, which would test nothing once what it tests is rewritten."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView
from torchlift.view.walk import walk

_FOLDERS = frozenset({"test", "tests", "unittests"})
_WRITERS = frozenset({"save", "_save_for_lite_interpreter", "save_pretrained"})
_EXPECTS = ("assert", "raises", "allclose")


def enclosing_test(view: ModuleView, node: ast.AST, *, by_file: bool = True) -> str | None:
    """Name of the test that `node` stands in: a test function or, with `by_file`, a file of tests; None if none.

    Outside the files of tests, a function that is named like a test, expects nothing and saves something is a program.
    """
    in_tests = is_test_file(view.path)
    for ancestor in view.ancestors(node):
        if (
            isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef))
            and ancestor.name.startswith("test")
            and (in_tests or not _is_program(ancestor))
        ):
            return ancestor.name
    file = view.path.rpartition("/")[2]
    return file if by_file and _is_test_name(file) else None


def is_test_file(path: str) -> bool:
    """Whether a file holds tests or stands among them."""
    folder, _, file = path.rpartition("/")
    return _is_test_name(file) or not _FOLDERS.isdisjoint(folder.split("/"))


def _is_test_name(file: str) -> bool:
    return file.startswith("test_") or file.endswith("_test.py")


def _is_program(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    saves = False
    for child in walk(function):
        if isinstance(child, ast.Assert):
            return False
        if isinstance(child, ast.Call):
            name = child.func.attr if isinstance(child.func, ast.Attribute) else getattr(child.func, "id", "")
            if any(word in name.lower() for word in _EXPECTS):
                return False
            saves = saves or name in _WRITERS
    return saves
