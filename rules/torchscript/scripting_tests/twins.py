"""Tests that test the same as a test of scripting, without scripting."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.places.expected_errors import is_expected_to_fail
from torchlift.rules.torchscript.scripting_tests.checks import called_name, is_check
from torchlift.rules.torchscript.scripting_tests.scripted_values import FunctionNode, ScriptedValues, assigned_from
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_NOT_MADE = frozenset({"eval", "to", "cuda", "cpu", "train", "double", "half", "float", "deepcopy", "copy", "cast"})
_MODES = frozenset({"eval", "train", "double", "half", "bfloat16"})
_DEPTH = 5
_RUNS = lazy_pattern(r"pytest\.mark\.(?:skip|xfail|parametrize|usefixtures)")


def twin_of(view: ModuleView, function: FunctionNode, values: ScriptedValues) -> FunctionNode | None:
    """A test of the same class or file that calls and checks all that `function` scripts, made and called as it is there.

    What is scripted is known by the class or function that makes it, the arguments of that, and the modes it is put into.
    """
    makers = _makers(view, values)
    if makers is None:
        return None
    calls = set(_ways_of_calling(view, function, makers, values))
    return next(
        (
            other
            for other in near_twins(view, function, values)
            if makers <= set(_called(view, other, _made_as))
            and _modes(function) <= _modes(other)
            and calls <= set(_ways_of_calling(view, other, makers, values))
        ),
        None,
    )


def _makers(view: ModuleView, values: ScriptedValues) -> set[str] | None:
    """How each value that is scripted is made; None if that is not visible of one."""
    made = [set(_made_by(view, captured, _made_as)) for captured in values.makers.values()]
    return set().union(*made) if made and all(made) else None


def near_twins(view: ModuleView, function: FunctionNode, values: ScriptedValues) -> Iterator[FunctionNode]:
    """Tests of the same class or file that check what `function` scripts, made with whatever arguments."""
    makers = {name for captured in values.makers.values() for name in _made_by(view, captured, _made_of)}
    if not makers:
        return
    for other in _neighbours(view, function):
        if other is function or not other.name.startswith("test") or "jit" in view.text(other):
            continue
        if not any(is_check(item, values) for item in walk(other) if isinstance(item, ast.stmt)):
            continue
        if makers <= set(_called(view, other, _made_of)) and _covers(view, other, function):
            yield other


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


Naming = Callable[[ModuleView, ast.Call], str]


def _made_by(view: ModuleView, node: ast.expr, named: Naming) -> Iterator[str]:
    """The class or function that makes what `node` stands for, the function or the parameter that it is."""
    while isinstance(node, ast.Call) and called_name(node) in _NOT_MADE:
        inner = node.args[0] if node.args and not isinstance(node.func, ast.Attribute) else None
        if inner is None and isinstance(node.func, ast.Attribute):
            inner = node.func.value
        if inner is None:
            return
        node = inner
    match node:
        case ast.Call():
            made = view.definition(node.func)
            if made is not None and isinstance(made.node, ast.ClassDef) and made.scope.kind != "module":
                return  # each test has its own of this name
            yield named(view, node)
        case ast.Name():
            binding = view.definition(node)
            if binding is not None and binding.kind == "assign" and binding.value is not None:
                yield from _made_by(view, binding.value, named)
            elif binding is None or binding.scope.kind == "module" or binding.kind == "param":
                yield node.id
        case ast.Attribute():
            yield ast.unparse(node)


def _made_of(view: ModuleView, node: ast.Call) -> str:
    """A class by its name; of what a function makes, its arguments say what it is."""
    name = ast.unparse(node.func)
    return f"{name}(...)" if name.rpartition(".")[2][:1].isupper() else _made_as(view, node)


def _made_as(view: ModuleView, node: ast.Call) -> str:
    """A call with its arguments, local names replaced by what they are bound to."""
    given = [*map(ast.unparse, node.args), *sorted(ast.unparse(item) for item in node.keywords)]
    names = {
        name.id: name for item in (*node.args, *node.keywords) for name in walk(item) if isinstance(name, ast.Name)
    }
    bound = [f"{name}: {_source(view, names[name], 0)}" for name in sorted(names)]
    return f"{ast.unparse(node.func)}({', '.join(given)}) {bound}"


def _source(view: ModuleView, name: ast.Name, depth: int) -> str:
    """What a name is bound to and how that is changed, down to parameters and the names of the module."""
    texts = []
    for binding in view.bindings_of(name, view.scope_at(name)) if depth < _DEPTH else ():
        if binding.scope.kind != "function" or binding.kind == "param":
            continue
        value = assigned_from(view, binding.node)
        if value is None:
            return f"line {name.lineno}"
        changes = [
            view.text(statement)
            for read, _ in view.reads_of(binding)
            if isinstance(statement := view.statement(read), (ast.Assign, ast.AugAssign, ast.Expr, ast.Delete))
            and isinstance(view.parent(read), (ast.Attribute, ast.Subscript))
            and statement.lineno < name.lineno
            and (
                not isinstance(statement, ast.Assign) or any(read in set(walk(target)) for target in statement.targets)
            )
        ]
        inner = {one.id: one for one in walk(value) if isinstance(one, ast.Name)}
        of = [f"{one}: {_source(view, inner[one], depth + 1)}" for one in sorted(inner)]
        texts.append(f"{ast.unparse(value)} {of} {changes}")
    return " or ".join(texts)


def _called(view: ModuleView, function: FunctionNode, named: Naming) -> Iterator[str]:
    """What makes the values that a test calls, and the functions it calls by name."""
    for node in walk(function):
        if isinstance(node, ast.Call) and not is_expected_to_fail(view, node):
            called = node.func
            if isinstance(called, ast.Attribute) and called.attr not in _NOT_MADE:
                yield from _made_by(view, called.value, named)
            yield from _made_by(view, called, named)


def _modes(function: FunctionNode) -> set[str]:
    """Methods that a test calls to put something into another mode or type."""
    return {called_name(node) for node in walk(function) if isinstance(node, ast.Call)} & _MODES


def _ways_of_calling(
    view: ModuleView, function: FunctionNode, makers: set[str], values: ScriptedValues
) -> Iterator[tuple[int, frozenset[str]]]:
    """With how many arguments, and which by name, a test calls what is made so, or what is scripted or loaded of it."""
    for node in walk(function):
        if not isinstance(node, ast.Call) or is_expected_to_fail(view, node):
            continue
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "forward":
            called = called.value
        called = values.original(called) or called
        if isinstance(called, (ast.Name, ast.Call)) and makers.intersection(_made_by(view, called, _made_as)):
            yield len(node.args), frozenset(item.arg or "**" for item in node.keywords)


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
