"""Expressions with the names in them replaced by what they stand for, as text for advice."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from torchlift.view import ModuleView
from torchlift.view.walk import walk


def spelled_out(
    view: ModuleView, node: ast.expr, stands_for: Callable[[ast.Name], ast.expr | None], depth: int = 3
) -> str:
    """Source of `node`, in which a name that `stands_for` has an expression for is replaced by it, `depth` times over."""
    values: dict[str, str] = {}
    for name in walk(node) if depth else ():
        value = stands_for(name) if isinstance(name, ast.Name) else None
        if isinstance(name, ast.Name) and value is not None:
            values[name.id] = spelled_out(view, value, stands_for, depth - 1)
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if not values:
        return view.text(node)
    return ast.unparse(_Replace(values).visit(ast.parse(ast.unparse(node), mode="eval")))


class _Replace(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self._values.get(node.id)
        return ast.parse(f"({text})", mode="eval").body if text is not None else node
