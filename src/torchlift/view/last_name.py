"""What an expression is called by, whatever that means in its file."""

from __future__ import annotations

import ast


def last_name(node: ast.AST | None) -> str:
    """`c` of `c` and of `a.b.c`; empty where it has no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
