"""Where a value that may be scripted goes from a test or a helper of tests, and what else may stand in its place there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.places.uses_everywhere import uses_everywhere
from torchlift.rules.torchscript.scripting_tests.scripted_values import ScriptedValues
from torchlift.rules.torchscript.scripting_tests.scripting_helpers import may_mean
from torchlift.rules.torchscript.values.takers import taker_by
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

_EXPORTS = lazy_pattern(r"^(?:torch\.export\.|torch\._export\.|torch\._dynamo\.export$|torch\.fx\.|executorch\.)")
_SAME = frozenset({"eval", "train", "to", "cuda", "cpu", "half", "float", "double"})


def may_be_scripted(values: ScriptedValues, node: ast.expr) -> bool:
    """Whether `node` is a scripted value, or a name that some way binds to one."""
    if values.original(node) is not None:
        return True
    return isinstance(node, ast.Name) and any(
        one.kind == "assign" and one.value is not None and values.original(one.value) is not None
        for one in values.view.bindings_of(node, values.view.scope_at(node))
    )


def exported_instead(values: ScriptedValues, call: ast.Call) -> int | None:
    """Line on which what `call` gives is exported on another way: whoever gets it wants a capture, and not the module."""
    view = values.view
    target = next((one for one in getattr(view.parent(call), "targets", ()) if isinstance(one, ast.Name)), None)
    owner = view.scope_at(target).lookup(target.id) if target is not None else None
    for other in owner.bindings[target.id] if owner is not None and target is not None else ():
        for node in walk(other.value) if other.value is not None else ():
            if isinstance(node, ast.Call) and _EXPORTS.search(view.possible_name(node.func)) is not None:
                return node.lineno
    return None


def given_back(values: ScriptedValues) -> tuple[str | None, bool]:
    """A clause about what a helper of tests gives back, where that may be scripted, and whether it is needed as such."""
    function, project = values.function, values.project
    returned = next(
        (
            item
            for item in walk(function)
            if isinstance(item, ast.Return) and item.value is not None and any(_parts_scripted(values, item.value))
        ),
        None,
    )
    if returned is None or function.name.startswith("test"):
        return None, False
    about = f"`{function.name}` gives back on line {returned.lineno} what is plain then"
    if (taker := taker_by(project, function.name)) is not None:
        return f"{about}, and {taker} needs it as TorchScript", True
    for home, call in _calls(values):
        if call is None or (place := _kept(home, call)) is not None:
            where = f"{home.path}:{place if call is not None else function.lineno}"
            return f"{about}, and what {where} does with it was not followed", False
    return None, False


def _parts_scripted(values: ScriptedValues, node: ast.expr) -> Iterator[bool]:
    elements = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    yield from (may_be_scripted(values, element) for element in elements)


def _calls(values: ScriptedValues) -> Iterator[tuple[ModuleView, ast.Call | None]]:
    """Calls of the function, with their files; None for a use that is none, or where they are not all known."""
    function, view, project = values.function, values.view, values.project
    if isinstance(view.parent(function), ast.ClassDef):
        if project.files_with_attribute(function.name, (view.path,)):
            yield view, None
        named = [node for node in view.attributes_named(function.name) if may_mean(view, node, function)]
        places: list[tuple[ModuleView, ast.expr]] = [(view, node) for node in named]
    else:
        bound: list[Binding] = view.scopes.module.bindings.get(function.name, [])
        if len(bound) != 1:
            yield view, None
            return
        places, unknown = uses_everywhere(view, bound[0], project)
        if unknown:
            yield view, None
    for home, node in places:
        parent = home.parent(node)
        yield home, parent if isinstance(parent, ast.Call) and parent.func is node else None


def _kept(view: ModuleView, call: ast.expr) -> int | None:
    """Line on which what a call gives is not called, but handed on or kept; None if it is only called."""
    match view.parent(call):
        case ast.Call(func=called) if called is call:
            return None
        case ast.Attribute(attr=attr) as asked if attr in _SAME:
            around = view.parent(asked)
            return _kept(view, around) if isinstance(around, ast.Call) and around.func is asked else call.lineno
        case ast.Expr():
            return None
        case ast.Assign(targets=[ast.Name() as target]):
            binding = view.bound_by(target)
            reads = view.reads_of(binding) if binding is not None and binding.scope.kind == "function" else None
            if reads is None:
                return call.lineno
            return next((line for read, _ in reads if (line := _kept(view, read)) is not None), None)
    return call.lineno
