"""`scripted = net`: a second name for what is no longer another value, and the first one in its place."""

from __future__ import annotations

import ast

from torchlift.finding import DeleteStatement, ReplaceExpression, Rewrite, Template
from torchlift.rules.torchscript.values.stale_comments import stale_above
from torchlift.view import Binding, ModuleView

CHANGES = frozenset({"augmented", "delete"})
"""Kinds of bindings that need the name bound already."""


def without_second_name(view: ModuleView, statement: ast.stmt, given: ast.expr) -> tuple[Rewrite, ...] | None:
    """The name `given` for the one that `statement` binds to its scripted value; None if they do not mean one thing each."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    source = view.definition(given)
    if not isinstance(target, ast.Name) or not isinstance(given, ast.Name) or source is None:
        return None
    binding = view.bound_by(target)
    if binding is None or binding.scope.kind != "function":
        return None
    fixed = source.scope.kind == "module" and len(source.scope.bindings[source.name]) == 1
    if source.scope is not binding.scope and not fixed:
        return None
    if len(binding.scope.bindings[binding.name]) != 1 or view.block(statement) == [statement]:
        return None
    reads = list(view.reads_of(binding))
    if not reads or not all(only and still_means(view, read, source, given) for read, only in reads):
        return None
    shown = Template(given.id)
    return (
        DeleteStatement(view.span(statement), stale_above(view, statement)),
        *(ReplaceExpression(view.span(read), shown) for read, _ in reads),
    )


def still_means(view: ModuleView, read: ast.Name, source: Binding, given: ast.expr) -> bool:
    """Whether the name that `source` binds still means that at `read`, behind `given`."""
    if view.scope_at(read).lookup(source.name) is not source.scope:
        return False
    around = {*view.ancestors(given)}
    loops = [item for item in view.ancestors(read) if isinstance(item, (ast.For, ast.AsyncFor, ast.While))]
    return not any(
        given.lineno < getattr(other.node, "lineno", 0) <= read.lineno
        or any(loop in view.ancestors(other.node) and loop not in around for loop in loops)
        for other in source.scope.bindings[source.name]
    )
