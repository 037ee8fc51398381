"""Names that would be read with nothing left that binds them, once the rewrites of a function are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlift.finding import ReplaceExpression, Rewrite
from torchlift.rules.torchscript.scripting_tests.scripted_values import FunctionNode
from torchlift.rules.torchscript.values.stale_names import CHANGES
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk


def first_unbound(
    view: ModuleView,
    function: FunctionNode,
    deleted: Sequence[ast.stmt],
    rewrites: Sequence[Rewrite],
    moved: Sequence[tuple[ast.expr, ast.expr]],
) -> ast.Name | None:
    """The first name that will be read and that only `deleted` statements bind before; None if there is none.

    Args:
        view: the file.
        function: what the rewrites change.
        deleted: statements that go.
        rewrites: all changes of the function; names inside of what they replace are no longer read.
        moved: expressions of the function, and those the text of which is written in their place.
    """
    gone = {id(node) for statement in deleted for node in walk(statement)}
    replaced = [item for item in rewrites if isinstance(item, ReplaceExpression)]
    read: list[tuple[ast.expr, ast.Name]] = [
        (node, node) for node in _staying(view, function, replaced) if id(node) not in gone
    ]
    spans = {item.span for item in replaced}
    for place, copied in moved:
        names = (node for node in walk(copied) if isinstance(node, ast.Name))
        read += [(place, node) for node in names if view.span(node) not in spans]
    return next((node for place, node in read if _loses(view, place, node, gone)), None)


def _staying(view: ModuleView, function: FunctionNode, replaced: Sequence[ReplaceExpression]) -> Iterator[ast.Name]:
    """Names that are read or deleted in `function`, without those in the place of which something else is written."""
    spans = {item.span for item in replaced}
    copied = {part for item in replaced for _, part in item.template.parts}
    for node in walk(function):
        if isinstance(node, ast.Name) and (
            not isinstance(node.ctx, ast.Store) or isinstance(view.parent(node), ast.AugAssign)
        ):
            for around in (node, *view.ancestors(node)):
                span = view.span(around) if isinstance(around, ast.expr) else None
                if span in spans:
                    break
                if around is function or span in copied:
                    yield node
                    break


def _loses(view: ModuleView, place: ast.expr, node: ast.Name, gone: set[int]) -> bool:
    """Whether nothing binds the name of `node` at `place` that did before."""
    scope = view.scope_at(place)
    owner = view.scope_at(node).lookup(node.id)
    if owner is None or owner.kind != "function":
        return False
    if place is not node and _is_other(view, node, gone):
        return True
    bound = [binding for binding in owner.bindings[node.id] if binding.kind not in CHANGES]
    if not any(id(binding.node) in gone for binding in bound):
        return False
    unbound = [
        other.lineno
        for function in view.ancestors(node)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for other in walk(function)
        if isinstance(other, ast.Name) and other.id == node.id and isinstance(other.ctx, ast.Del)
        if id(other) not in gone and other.lineno < place.lineno
    ]
    return not any(
        id(binding.node) not in gone
        and (scope is not owner or max(unbound, default=0) <= _line(binding) <= place.lineno)
        for binding in bound
    )


def _is_other(view: ModuleView, node: ast.Name, gone: set[int]) -> bool:
    """Whether what binds `node` goes, and says more than `net = torch.jit.script(net)` does: any other value is another."""
    binding = view.definition(node)
    if binding is None or id(binding.node) not in gone or binding.value is None:
        return False
    return not any(isinstance(name, ast.Name) and name.id == node.id for name in walk(binding.value))


def _line(binding: Binding) -> int:
    return getattr(binding.node, "lineno", 0)
