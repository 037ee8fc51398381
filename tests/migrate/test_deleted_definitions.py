"""Whole definitions go with their decorators and comments, and with what nothing else uses."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlift.finding import DeleteStatement
from torchlift.migrate.document import PythonDocument
from torchlift.migrate.fix.rewrite.build import apply_edits
from torchlift.project import Project
from torchlift.source import SourceText


def without(text: str, *names: str, path: str = "test_it.py", clean: bool = False, root: Path = Path()) -> str:
    """`text` without the definitions of these names."""
    document = PythonDocument(Project(root, (path,), {path: SourceText(text)}), path)
    found = [node for node in ast.walk(document.view.tree) if getattr(node, "name", None) in names]
    assert len(found) == len(names)
    rewrites = [DeleteStatement(document.view.span(node)) for node in found if isinstance(node, ast.stmt)]
    left_over = list(document.left_over(rewrites)) if clean else []
    edits = document.edits([*rewrites, *left_over])
    new = document.source.replaced(apply_edits(text, edits))
    assert document.problem_with(edits, new) is None
    return new.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n\n\ndef f():\n    pass\n\n\ny = 2\n", "x = 1\n\n\ny = 2\n"),
        ("x = 1\n\n\n@g\n@h(\n    1\n)\ndef f():\n    pass\n", "x = 1\n"),
        ("def f():\n    pass\n\n\ny = 2\n", "y = 2\n"),
        ("x = 1\ndef f(): pass\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1\n\ndef f():\n    pass\n\n\n\ny = 2\n", "x = 1\n\n\n\ny = 2\n"),
        ("x = 1\r\n\r\n\r\ndef f():\r\n    pass\r\n\r\n\r\ny = 2\r\n", "x = 1\r\n\r\n\r\ny = 2\r\n"),
        ("class A:\n    x = 1\n\n    def f(self):\n        pass\n\n\ny = 2\n", "class A:\n    x = 1\n\n\ny = 2\n"),
        ("class A:\n    def f(self):\n        pass\n\n    x = 1\n", "class A:\n    x = 1\n"),
        ("class A:\n    @g\n    def f(self):\n        pass\n", "class A:\n    pass\n"),
        ("x = 1\n\n\n# not of f\n\ndef f():\n    pass\n", "x = 1\n\n\n# not of f\n"),
        ("def f():\n    pass", ""),
    ],
)
def test_a_definition_goes_with_its_decorators_and_the_blank_lines_that_set_it_apart(before: str, after: str) -> None:
    assert without(before, "f") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a\n\ngone()\n\n\ndef f():\n    pass\n", "import a\n\n\ndef f():\n    pass\n"),
        ("import a\n\n\ndef f():\n    pass\n\n\ngone()\n", "import a\n\n\ndef f():\n    pass\n"),
        ("import a\n\ngone()\n\nx = 1\n", "import a\n\nx = 1\n"),
        ("import a\n\ngone()\nx = 1\n", "import a\n\nx = 1\n"),
        ("import a\ngone()\n\nx = 1\n", "import a\n\nx = 1\n"),
        ("gone()\n\n\nx = 1\n", "x = 1\n"),
        ('"""Words."""\n\ngone()\n\nimport a\n', '"""Words."""\n\nimport a\n'),
        ("def f():\n    x = 1\n\n    gone()\n\n\ny = 2\n", "def f():\n    x = 1\n\n\ny = 2\n"),
        ("def f():\n    gone()\n\n    return 1\n", "def f():\n    return 1\n"),
        ("import a\n\n# kept\ngone()\n\n\nx = 1\n", "import a\n\n# kept\n\n\nx = 1\n"),
        ("import a\r\n\r\ngone()  # why\r\n\r\n\r\nx = 1\r\n", "import a\r\n\r\n\r\nx = 1\r\n"),
        ("x = 1; gone()\n\n\ny = 2\n", "x = 1\n\n\ny = 2\n"),
        ("gone(); x = 1\n", "x = 1\n"),
        ("import a\n \\\n\ngone()\n", "import a\n \\\n\n"),
        ("import a\n\n \\\n\n\ngone()\n\n\nx = 1\n", "import a\n\n \\\n\n\n\nx = 1\n"),
    ],
)
def test_a_simple_statement_leaves_the_gap_that_its_neighbours_want(before: str, after: str) -> None:
    document = PythonDocument(Project(Path(), ("m.py",), {"m.py": SourceText(before)}), "m.py")
    statements = [
        node for node in ast.walk(document.view.tree) if isinstance(node, ast.Expr) and "gone" in ast.dump(node)
    ]
    edits = document.edits([DeleteStatement(document.view.span(node)) for node in statements])
    assert apply_edits(before, edits) == after


def test_neighbours_that_go_leave_one_gap() -> None:
    text = "x = 1\n\n\ndef f():\n    pass\n\n\ndef g():\n    pass\n\n\ny = 2\n"
    assert without(text, "f", "g") == "x = 1\n\n\ny = 2\n"


def test_a_block_that_loses_everything_around_a_comment_keeps_a_pass() -> None:
    text = "class A:\n    def f(self):\n        pass\n\n    # between\n\n    def g(self):\n        pass\n"
    assert without(text, "f", "g") == "class A:\n    pass\n\n    # between\n"


def test_comment_lines_go_if_the_deletion_says_how_many() -> None:
    text = "x = 1\n\n\n# one\n# two\ndef f():\n    pass\n"
    document = PythonDocument(Project(Path(), ("a.py",), {"a.py": SourceText(text)}), "a.py")
    span = document.view.span(document.view.tree.body[1])
    assert apply_edits(text, document.edits([DeleteStatement(span, comments=1)])) == "x = 1\n\n\n# one\n"


def test_changes_inside_a_definition_that_goes_are_not_made() -> None:
    text = "def f():\n    x = 1\n    return x\n\n\ny = 2\n"
    document = PythonDocument(Project(Path(), ("a.py",), {"a.py": SourceText(text)}), "a.py")
    function = document.view.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    spans = [document.view.span(node) for node in (function.body[0], function)]
    assert apply_edits(text, document.edits([DeleteStatement(span) for span in spans])) == "y = 2\n"


TESTS = """\
import io
import sys
from os import path, sep

import pytest

LIMIT = 3
USED = 4


def helper():
    return io.BytesIO(), LIMIT


def shared():
    return USED, sep


@pytest.fixture
def model():
    return path


@pytest.mark.slow
def test_gone(model):
    assert helper() == shared()


def test_stays():
    assert shared() == sys.argv
"""


def test_what_only_a_deleted_test_used_goes_with_it() -> None:
    assert without(TESTS, "test_gone", clean=True) == (
        "import sys\nfrom os import sep\n\nUSED = 4\n\n\ndef shared():\n    return USED, sep\n\n\n"
        "def test_stays():\n    assert shared() == sys.argv\n"
    )


def test_outside_of_tests_nothing_but_the_definition_goes() -> None:
    kept = without(TESTS, "test_gone", clean=True, path="lib.py")
    assert "def helper" in kept
    assert "LIMIT = 3" in kept


def test_what_another_file_imports_stays(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text("from test_it import helper\n\n\ndef test_it():\n    assert helper()\n")
    document = PythonDocument(
        Project(tmp_path, ("test_it.py", "test_other.py"), {"test_it.py": SourceText(TESTS)}), "test_it.py"
    )
    test = next(node for node in document.view.tree.body if getattr(node, "name", "") == "test_gone")
    rewrites = [DeleteStatement(document.view.span(test))]
    new = apply_edits(TESTS, document.edits([*rewrites, *document.left_over(rewrites)]))
    assert "def helper" in new
    assert "LIMIT = 3" in new
    assert "def model" not in new


def test_a_class_goes_with_its_last_test_and_its_set_up() -> None:
    text = (
        "import unittest\n\n\nclass TestA(unittest.TestCase):\n    def setUp(self):\n        self.x = 1\n\n"
        "    def _use(self):\n        return self.x\n\n    def test_gone(self):\n        self._use()\n\n\n"
        "class TestB(unittest.TestCase):\n    def test_stays(self):\n        pass\n"
    )
    assert without(text, "test_gone", clean=True) == (
        "import unittest\n\n\nclass TestB(unittest.TestCase):\n    def test_stays(self):\n        pass\n"
    )


@pytest.mark.parametrize("base", ["Base", "others.Mixin"])
def test_a_class_that_inherits_tests_stays(base: str) -> None:
    text = (
        "import others\n\n\nclass Base:\n    def test_more(self):\n        pass\n\n\n"
        f"class TestA({base}):\n    x = 1\n\n    def test_gone(self):\n        pass\n"
    )
    assert without(text, "test_gone", clean=True).endswith(f"class TestA({base}):\n    x = 1\n")
