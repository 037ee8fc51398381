"""Statements that a rewrite may take out or put others in the place of."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView


def stands_alone(view: ModuleView, statement: ast.stmt) -> bool:
    """Whether a simple statement has its lines to itself, so that several lines may take its place."""
    span = view.span(statement)
    text = view.source.text
    start = view.source.line_starts[view.source.location(span.start)[0] - 1]
    line = view.source.location(span.end)[0]
    starts = view.source.line_starts
    after = text[span.end : starts[line] if line < len(starts) else len(text)].strip()
    return not text[start : span.start].strip() and (not after or after.startswith("#"))


def assigns_itself(view: ModuleView, statement: ast.stmt, value: ast.expr) -> bool:
    """Whether a statement with `value` on its right would only bind a variable to itself: `x = x`.

    In a class body, and in a function that does not bind the name before, it makes a new variable.
    """
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not isinstance(value, ast.Name):
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or target.id != value.id:
        return False
    scope = view.scope_at(target)
    owner = scope.lookup(target.id)
    bindings = owner.bindings[target.id] if owner is not None else []
    return any(
        binding.node is not target and binding.kind in {"param", "def", "class", "assign"} for binding in bindings
    )
