"""Questions that rules of several families ask, where their own answers had drifted apart."""

from __future__ import annotations

import ast

import pytest

from torchlift.rules.analysis.places.expected_errors import handler_around, is_expected_to_fail
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.values.self_attributes import only_value_on_self
from torchlift.rules.analysis.values.value_of import value_of
from torchlift.source import SourceText
from torchlift.view import ModuleView


def viewed(code: str) -> ModuleView:
    source = SourceText.from_bytes(code.encode())
    return ModuleView("a.py", source, source.parse(), "a")


def call_of(view: ModuleView, name: str) -> ast.Call:
    return next(
        node
        for node in ast.walk(view.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    )


@pytest.mark.parametrize("path", ["test_net.py", "a/net_test.py", "a/tests.py", "unit_tests/net.py", "a-test/net.py"])
def test_a_file_of_tests_is_known_by_its_name_or_a_folder_around_it(path: str) -> None:
    assert is_test_file(path)


@pytest.mark.parametrize("path", ["test.py", "src/contest/net.py", "src/latest.py", "testing/net.py"])
def test_a_program_that_evaluates_a_model_is_no_test(path: str) -> None:
    assert not is_test_file(path)


@pytest.mark.parametrize(
    ("around", "handler", "fails"),
    [
        ("with pytest.raises(ValueError):", "raises", True),
        ("with self.assertRaisesRegex(ValueError, 'x'):", "assertRaisesRegex", True),
        ("with suppress(ValueError):", "suppress", False),
        ("with pytest.warns(UserWarning):", None, False),
        ("with torch.no_grad():", None, False),
        ("if x:", None, False),
    ],
)
def test_what_takes_the_errors_of_a_call_is_told_by_one_list(around: str, handler: str | None, fails: bool) -> None:
    view = viewed(f"def f(self, x):\n    {around}\n        g(x)\n")
    assert handler_around(view, call_of(view, "g")) == handler
    assert is_expected_to_fail(view, call_of(view, "g")) is fails


def test_a_handler_outside_the_function_takes_errors_of_no_call_in_it() -> None:
    view = viewed("try:\n    def f(x):\n        g(x)\nexcept ValueError:\n    pass\n")
    assert handler_around(view, call_of(view, "g")) is None


def test_a_value_is_followed_through_names_and_out_of_a_circle() -> None:
    view = viewed("a = 1\nb = a\nc = b\nshow(c)\n")
    assert ast.unparse(value_of(view, call_of(view, "show").args[0])) == "1"
    circle = viewed("def f():\n    while True:\n        x = x\n        show(x)\n")
    assert isinstance(value_of(circle, call_of(circle, "show").args[0]), ast.Name)


@pytest.mark.parametrize(
    ("head", "stores", "known"),
    [
        ("class A", "self.x = 1", True),
        ("class A(Base)", "self.x = 1", False),
        ("class A", "self.x = 1; self.x = 2", False),
        ("class A", "self.x += 1", False),
    ],
)
def test_self_holds_one_value_where_one_class_stores_it_once(head: str, stores: str, known: bool) -> None:
    view = viewed(f"{head}:\n    def f(self):\n        {stores}\n\n    def g(self):\n        return show(self.x)\n")
    node = call_of(view, "show").args[0]
    assert isinstance(node, ast.Attribute)
    assert (only_value_on_self(view, node) is not None) is known
