"""The classes of a project that a module is made of: its own, and those of the parts that its `__init__` makes."""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_MOST = 40


def reached_classes(
    view: ModuleView, owner: ast.ClassDef, project: Project
) -> tuple[list[tuple[ModuleView, ast.ClassDef]], str | None]:
    """The classes, its own first, and a clause about the first part that was not read.

    A part counts as read if it is made by a class of the project with no base but `torch.nn.Module` or another class that
    was read, or by torch itself.
    """
    found: list[tuple[ModuleView, ast.ClassDef]] = []
    waiting = [(view, owner)]
    while waiting:
        home, node = waiting.pop(0)
        if any(node is known for _, known in found):
            continue
        if len(found) >= _MOST:
            return found, f"`{owner.name}` has more parts than were read"
        found.append((home, node))
        if node.decorator_list or node.keywords:
            return found, f"`{node.name}` is decorated or has a metaclass"
        for base in node.bases:
            if home.certain_name(base).startswith("torch.nn."):
                continue
            parent = definition_of(home, base, project, ast.ClassDef)
            if parent is None:
                return found, f"the base `{ast.unparse(base)}` of `{node.name}` was not read"
            waiting.append(parent)
        for call in _made(node):
            part = definition_of(home, call.func, project, ast.ClassDef)
            if part is not None:
                waiting.append(part)
            elif (unread := _unread(home, call)) is not None:
                return found, f"what `{unread}` makes for `{node.name}` was not read ({home.path}:{call.lineno})"
        if (handed := _handed_in(node)) is not None:
            return found, f"`{node.name}` calls `{handed}`, which it is handed when it is made"
    return found, None


def _init(node: ast.ClassDef) -> ast.FunctionDef | None:
    return next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)


def _made(node: ast.ClassDef) -> list[ast.Call]:
    init = _init(node)
    return [child for child in walk(init) if isinstance(child, ast.Call)] if init is not None else []


def _unread(view: ModuleView, call: ast.Call) -> str | None:
    """How the called function is written, if it may make a part; None for torch's own and for what makes none."""
    function = call.func
    resolution = view.resolve(function)
    if (
        resolution is not None
        and resolution.certain
        and resolution.name.partition(".")[0] in {"torch", "math", "typing"}
    ):
        return None
    if isinstance(function, ast.Name) and resolution is None:
        return None if function.id in _BUILTIN else function.id
    if isinstance(function, ast.Attribute):
        base = function.value
        if isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and base.func.id == "super":
            return None
        if function.attr in _METHODS:
            return None
    return ast.unparse(function)[:60]


_BUILTIN = frozenset(
    "super range len int float bool str max min abs sum list tuple dict set zip enumerate isinstance print sorted round".split()
)
_METHODS = frozenset(
    """append extend add_module register_buffer register_parameter reset_parameters normal_ uniform_ zero_ fill_ data
    copy_ requires_grad_ format join split items keys values""".split()
)


def _handed_in(node: ast.ClassDef) -> str | None:
    """An attribute that `__init__` takes over from a parameter and that a method calls: a part, made elsewhere."""
    init = _init(node)
    if init is None:
        return None
    parameters = {argument.arg for argument in [*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs]} - {
        "self"
    }
    taken = {
        target.attr
        for statement in walk(init)
        if isinstance(statement, ast.Assign)
        and any(isinstance(child, ast.Name) and child.id in parameters for child in walk(statement.value))
        and not any(isinstance(child, ast.Call) for child in walk(statement.value))
        for target in statement.targets
        if isinstance(target, ast.Attribute)
    }
    called = (self_attribute(child.func) for child in walk(node) if isinstance(child, ast.Call))
    return next((f"self.{name}" for name in called if name in taken), None)
