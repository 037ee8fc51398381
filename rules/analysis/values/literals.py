"""Values that are written out: constants, displays of them, arithmetic."""

from __future__ import annotations

import ast

from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.view.walk import walk


def is_false(node: ast.expr) -> bool:
    """Whether the expression is the constant False."""
    return isinstance(node, ast.Constant) and node.value is False


def is_plain_value(node: ast.expr | None) -> bool:
    """A constant, or a tuple, list or negation of constants."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(is_plain_value(element) for element in node.elts)
    if isinstance(node, ast.UnaryOp):
        return is_plain_value(node.operand)
    return isinstance(node, ast.Constant)


def is_arithmetic(node: ast.expr) -> bool:
    """Whether the expression holds only arithmetic on names, constants and attributes of `self`."""
    return all(
        isinstance(child, (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.operator, ast.unaryop, ast.expr_context))
        or self_attribute(child) is not None
        for child in walk(node)
    )
