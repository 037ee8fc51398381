"""Code of the project that needs a value it is handed as TorchScript: for its graph, its code, its type, or a compiler of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.facts.script_only import OF_MODULES
from torchlift.rules.torchscript.facts.value_consumers import takes_torchscript
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_ASKED = OF_MODULES - {"save"}  # classes of the project may have one of their own
_TYPES = lazy_pattern(r"\b(?:ScriptModule|RecursiveScriptModule|TopLevelTracedModule|TracedModule|ScriptFunction)\b")
_OTHERS = frozenset({"torch", "torchvision", "torchaudio", "numpy", ""})
_OF_COMPILER = lazy_pattern(r"(?i)(?:^|[._])(?:torch)?(?:jit|script)(?:$|[._])|torchscript")
_QUIET = (
    "functools.",
    "pytest.",
    "unittest.",
    "typing.",
    "torch.no_grad",
    "torch.inference_mode",
    "torch.enable_grad",
    "parameterized.",
)
_QUIET_NAMES = frozenset({"staticmethod", "classmethod", "property", "abc.abstractmethod"})
_UNIT = "_python_cu"
_MOST_STEPS = 4
_MOST_FILES = 5
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Callee = tuple[ModuleView, _Function, bool]
"""A file, a function in it, and whether its first parameter is not among the arguments of the call."""


def script_reader(view: ModuleView, call: ast.Call, node: ast.expr, project: Project) -> str | None:
    """`path:line` of the first such question in what `call`, which is given `node`, leads to; None if none is seen."""
    name = view.possible_name(call.func)
    if takes_torchscript(name) and not name.startswith("torch.jit."):
        return f"{view.path}:{call.lineno}"
    return next(_asked(view, call, node, project, _MOST_STEPS, set()), None)


def decorator_reader(view: ModuleView, decorator: ast.expr, project: Project) -> tuple[str | None, bool]:
    """`path:line` of the first such question in a decorator, or what it is named by where its name tells; and whether it was read."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = view.possible_name(called)
    if name.startswith(_QUIET) or name in _QUIET_NAMES:
        return None, True
    root = called
    while isinstance(root, ast.Attribute):
        root = root.value
    made = view.definition(root)
    if made is not None and isinstance(made.value, ast.Call):
        name = f"{view.possible_name(made.value.func)}.{name}"
    if _OF_COMPILER.search(name) is not None:
        return f"`{name.strip('.')}`", True
    callees = list(_callees(view, ast.Call(func=called, args=[], keywords=[]), project)) if view.parent(called) else []
    for home, function, bound in callees:
        for inner in (item for item in walk(function) if isinstance(item, _FUNCTIONS)):
            names = [argument.arg for argument in (*inner.args.posonlyargs, *inner.args.args)]
            for first in names[bound if inner is function else 0 :][:1]:
                asked = next(_asked_inside(home, inner, first, project, _MOST_STEPS, set()), None)
                if asked is not None:
                    return asked, True
    return None, bool(callees)


def unit_reader(view: ModuleView, project: Project) -> tuple[str | None, bool]:
    """`path:line` of the first look through everything that was ever scripted, and whether it is in the file in view."""
    paths = sorted(path for path in project.files_holding(_UNIT) if project.is_python(path))
    place = next((path for path in paths if path == view.path), next(iter(paths), None))
    if place is None:
        return None, False
    lines = project.source(place).text.splitlines()
    return f"{place}:{next(number for number, line in enumerate(lines, 1) if _UNIT in line)}", place == view.path


def _asked(
    view: ModuleView, call: ast.Call, node: ast.expr, project: Project, steps: int, seen: set[tuple[str, int, str]]
) -> Iterator[str]:
    for home, function, bound in _callees(view, call, project):
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)][bound:]
        names += [argument.arg for argument in function.args.kwonlyargs]
        given = named_arguments(call, names) or {}
        for name in (name for name, value in given.items() if value is node):
            if (key := (home.path, function.lineno, name)) not in seen:
                seen.add(key)
                yield from _asked_inside(home, function, name, project, steps, seen)


def _asked_inside(
    view: ModuleView, function: _Function, name: str, project: Project, steps: int, seen: set[tuple[str, int, str]]
) -> Iterator[str]:
    """Questions to a parameter of a function, and to the attribute that keeps it."""
    for child in walk(function):
        if isinstance(child, ast.Assert) and _TYPES.search(ast.unparse(child.test)) is not None:
            if any(isinstance(part, ast.Name) and part.id == name for part in walk(child.test)):
                yield f"{view.path}:{child.lineno}"
        elif isinstance(child, ast.Attribute) and child.attr in _ASKED and _is(child.value, name):
            yield f"{view.path}:{child.lineno}"
        elif isinstance(child, ast.Assign) and _is(child.value, name):
            yield from _asked_of_attribute(view, function, child.targets)
        elif isinstance(child, ast.Call):
            for argument in (*child.args, *(keyword.value for keyword in child.keywords)):
                if _is(argument, name) and takes_torchscript(view.possible_name(child.func)):
                    yield f"{view.path}:{child.lineno}"
                elif _is(argument, name) and steps:
                    yield from _asked(view, child, argument, project, steps - 1, seen)


def _asked_of_attribute(view: ModuleView, function: _Function, targets: list[ast.expr]) -> Iterator[str]:
    owner = view.parent(function)
    for target in targets:
        kept = self_attribute(target)
        for child in walk(owner) if kept is not None and isinstance(owner, ast.ClassDef) else ():
            if isinstance(child, ast.Attribute) and child.attr in _ASKED and self_attribute(child.value) == kept:
                yield f"{view.path}:{child.lineno}"


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _callees(view: ModuleView, call: ast.Call, project: Project) -> Iterator[_Callee]:
    """Functions of the project that a call runs, as far as names tell; a method is every one of that name in a few files."""
    function = call.func
    made = definition_of(view, function, project, ast.ClassDef)
    if made is not None:
        yield from _method(*made, "__init__", project)
        yield from _method(*made, "forward", project)
        return
    found = definition_of(view, function, project, ast.FunctionDef)
    if found is not None:
        yield *found, False
    elif isinstance(function, ast.Attribute):
        owner = view.class_of(call)
        match function.value:
            case ast.Call(func=ast.Name(id="super")) if owner is not None:
                for base in owner.bases:
                    parent = definition_of(view, base, project, ast.ClassDef)
                    yield from _method(*parent, function.attr, project) if parent is not None else ()
            case _ if view.resolve(function) is None:
                yield from _by_name(function.attr, project)
            case _ if (package := view.possible_name(function).partition(".")[0]) not in _OTHERS:
                yield from _by_name(function.attr, project, f"/{package}/")


def _method(view: ModuleView, owner: ast.ClassDef, name: str, project: Project, steps: int = 4) -> Iterator[_Callee]:
    """A method of a class, its own or that of the nearest base that has one."""
    own = [item for item in owner.body if isinstance(item, _FUNCTIONS) and item.name == name]
    yield from ((view, item, True) for item in own)
    for base in owner.bases if not own and steps else ():
        parent = definition_of(view, base, project, ast.ClassDef)
        yield from _method(*parent, name, project, steps - 1) if parent is not None else ()


def _by_name(name: str, project: Project, folder: str = "") -> Iterator[_Callee]:
    paths = [
        path
        for path in sorted(project.files_holding(f"def {name}("))
        if folder in f"/{path}" and project.is_python(path)
    ]
    for path in paths if len(paths) <= _MOST_FILES else ():
        view = project.view(path)
        for node in walk(view.tree) if view is not None else ():
            if view is not None and isinstance(node, _FUNCTIONS) and node.name == name:
                static = any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list)
                yield view, node, isinstance(view.parent(node), ast.ClassDef) and not static
