"""Tests that test the same as a test of scripting, without scripting."""

from __future__ import annotations

import ast
import re
from collections.abc import Hashable, Iterator

from torchlift.rules.analysis.places.expected_errors import is_expected_to_fail
from torchlift.rules.torchscript.scripting_tests.checks import called_name, is_check
from torchlift.rules.torchscript.scripting_tests.scripted_values import FunctionNode, ScriptedValues
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_NOT_MADE = frozenset({"eval", "to", "cuda", "cpu", "train", "double", "half", "float", "deepcopy", "copy", "cast"})
_RUNS = re.compile(r"pytest\.mark\.(?:skip|xfail|parametrize|usefixtures)")


def twin_of(view: ModuleView, function: FunctionNode, values: ScriptedValues) -> FunctionNode | None:
    """A test of the same class or file that calls and checks what `function` scripts, with all of its parameters.

    What is scripted is known by the class or function that makes it.
    """
    makers = {name for captured in values.makers.values() for name in _made_by(view, captured)}
    if not makers:
        return None
    for other in _neighbours(view, function):
        if other is function or not other.name.startswith("test") or "jit" in view.text(other):
            continue
        if not any(is_check(item, values) for item in walk(other) if isinstance(item, ast.stmt)):
            continue
        if makers <= set(_called(view, other)) and _covers(view, other, function):
            return other
    return None


def same_test(
    view: ModuleView, function: FunctionNode, values: ScriptedValues, gone: list[ast.stmt]
) -> FunctionNode | None:
    """A test of the same class or file that says word for word what `function` says once nothing is scripted.

    Args:
        view: the file.
        function: the test.
        values: its scripted values.
        gone: statements that go with the scripting.
    """
    mine = _shapes(function.body, values, gone)
    for other in _neighbours(view, function):
        if other is function or not other.name.startswith("test") or "jit" in view.text(other):
            continue
        alike = ast.dump(other.args) == ast.dump(function.args) and _grids(view, other) == _grids(view, function)
        if alike and _conditions(other) <= _conditions(function) and _shapes(other.body, values, []) == mine:
            return other
    return None


def _conditions(function: FunctionNode) -> set[str]:
    """Decorators, but for marks that only give a test a name."""
    shown = {ast.unparse(item) for item in function.decorator_list}
    return {text for text in shown if not text.startswith("pytest.mark.") or _RUNS.match(text) is not None}


def _shapes(block: list[ast.stmt], values: ScriptedValues, gone: list[ast.stmt]) -> tuple[Hashable, ...]:
    shapes: list[Hashable] = []
    for statement in block:
        docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if statement in gone or docstring or isinstance(statement, ast.Pass):
            continue
        match statement:
            case ast.Assign(targets=[ast.Name() as target], value=value) if values.original(value) is not None:
                if not isinstance(values.original(value), (ast.Name, ast.Attribute)):
                    shapes.append((target.id, _shape(value, values, gone)))
            case _:
                shapes.append(_shape(statement, values, gone))
    return tuple(shapes)


def shape_of(statement: ast.stmt, values: ScriptedValues) -> Hashable:
    """Equal for two statements that read the same without scripting."""
    return _shape(statement, values, [])


def _shape(node: object, values: ScriptedValues, gone: list[ast.stmt]) -> Hashable:
    """Equal for two pieces of code that read the same without scripting."""
    if isinstance(node, list):
        if node and isinstance(node[0], ast.stmt):
            return _shapes(node, values, gone)
        return tuple(_shape(item, values, gone) for item in node)
    if not isinstance(node, ast.AST):
        return repr(node)
    original = values.original(node) if isinstance(node, (ast.Name, ast.Call)) else None
    if (
        original is not None
        and original is not node
        and not (isinstance(node, ast.Name) and isinstance(original, ast.Call))
    ):
        return _shape(original, values, gone)
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and len(node.targets) == 1:
        return node.targets[0].id, _shape(node.value, values, gone)
    return (
        type(node).__name__,
        *(_shape(value, values, gone) for name, value in ast.iter_fields(node) if name != "ctx"),
    )


def _neighbours(view: ModuleView, function: FunctionNode) -> Iterator[FunctionNode]:
    parent = view.parent(function)
    body = parent.body if isinstance(parent, (ast.ClassDef, ast.Module)) else []
    yield from (item for item in body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _made_by(view: ModuleView, node: ast.expr) -> Iterator[str]:
    """The class or function that makes what `node` stands for, or the function that it is."""
    while isinstance(node, ast.Call) and called_name(node) in _NOT_MADE:
        inner = node.args[0] if node.args and not isinstance(node.func, ast.Attribute) else None
        if inner is None and isinstance(node.func, ast.Attribute):
            inner = node.func.value
        if inner is None:
            return
        node = inner
    match node:
        case ast.Call():
            # A class is known by its name; of what a function makes, its arguments say what it is.
            name = ast.unparse(node.func)
            made = view.definition(node.func)
            if made is not None and isinstance(made.node, ast.ClassDef) and made.scope.kind != "module":
                return  # each test has its own of this name
            yield f"{name}(...)" if name.rpartition(".")[2][:1].isupper() else ast.unparse(node)
        case ast.Name():
            binding = view.definition(node)
            if binding is not None and binding.kind == "assign" and binding.value is not None:
                yield from _made_by(view, binding.value)
            elif binding is None or binding.scope.kind == "module":
                yield node.id
        case ast.Attribute():
            yield ast.unparse(node)


def _called(view: ModuleView, function: FunctionNode) -> Iterator[str]:
    """What makes the values that a test calls, and the functions it calls by name."""
    for node in walk(function):
        if isinstance(node, ast.Call) and not is_expected_to_fail(view, node):
            called = node.func
            if isinstance(called, ast.Attribute) and called.attr not in _NOT_MADE:
                yield from _made_by(view, called.value)
            yield from _made_by(view, called)


def _covers(view: ModuleView, other: FunctionNode, function: FunctionNode) -> bool:
    """Whether `other` runs with all the parameters that `function` runs with."""
    mine, theirs = _grids(view, function), _grids(view, other)
    return all(names in theirs and rows <= theirs[names] for names, rows in mine.items())


def _grids(view: ModuleView, function: FunctionNode) -> dict[str, set[str]]:
    """Rows of each `parametrize`, by its names; one row for values that are made elsewhere."""
    grids: dict[str, set[str]] = {}
    for item in function.decorator_list:
        if isinstance(item, ast.Call) and called_name(item) == "parametrize" and len(item.args) >= 2:
            names, rows = item.args[:2]
            elements = rows.elts if isinstance(rows, (ast.List, ast.Tuple)) else [rows]
            grids[ast.unparse(names)] = {ast.unparse(element) for element in elements}
    return grids
