"""Whether some module of the project may compile a function or class: asked where it is not known which module is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.project import Project
from torchlift.rules.torchscript.compilers.code_digest import DEFINITIONS, Unit, outline
from torchlift.rules.torchscript.compilers.known_uses import known_uses
from torchlift.rules.torchscript.compilers.reached_code import Key, Reacher
from torchlift.view import ModuleView

_MOST_STEPS = 60


def may_be_compiled(project: Project, key: Key) -> bool:
    """Whether a class that may be a module reaches the function or class `key`, or somebody is handed it."""
    return project.once(_may_be_compiled, key)


def _may_be_compiled(project: Project, key: Key) -> bool:
    reacher = Reacher(project)
    pending, seen = [key], set()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        unit = outline(project, one[0]).units.get(one[1])
        if unit is None or len(seen) > _MOST_STEPS:
            return True
        if unit.is_class and reacher.is_module(one) is not False:
            return True
        if unit.owner:
            pending.append((unit.path, unit.owner))
            continue
        users = list(_users(project, unit))
        if None in users:
            return True
        pending += [user for user in users if user is not None and user != one]
    return False


def _users(project: Project, unit: Unit) -> Iterator[Key | None]:
    """The outermost functions and methods that use a function or class; None for a use that is not followed."""
    view = project.view(unit.path)
    scope = view.scopes.module if view is not None else None
    binding = next(
        (
            found
            for found in (scope.bindings.get(unit.name, ()) if scope is not None else ())
            if getattr(found.node, "lineno", 0) == unit.line
        ),
        None,
    )
    if view is None or binding is None:
        yield None
        return
    uses, complete = known_uses(view, binding, project)
    if not complete:
        yield None
    for home, node in uses:
        yield from _user(home, node, unit)


def _user(view: ModuleView, node: ast.expr, unit: Unit) -> Iterator[Key | None]:
    parent = view.parent(node)
    inside = [one for one in view.ancestors(node) if isinstance(one, DEFINITIONS)]
    if inside and isinstance(inside[0], ast.ClassDef) and node in inside[0].bases:
        yield view.path, inside[0].lineno
    elif (not unit.is_class and not (isinstance(parent, ast.Call) and parent.func is node)) or (
        not unit.is_class and any(_in_decorators(view, one, node) for one in inside)
    ):
        yield None
    elif inside:
        outer = inside[-1]
        yield from ((view.path, one.lineno) for one in inside[:-1] if isinstance(one, ast.ClassDef))
        method = inside[-2] if isinstance(outer, ast.ClassDef) and len(inside) > 1 else outer
        yield view.path, method.lineno


def _in_decorators(view: ModuleView, definition: ast.AST, node: ast.AST) -> bool:
    decorators = getattr(definition, "decorator_list", [])
    return any(node is decorator or decorator in view.ancestors(node) for decorator in decorators)
