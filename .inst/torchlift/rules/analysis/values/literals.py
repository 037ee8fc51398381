"""Values that are written out: constants, displays of them, arithmetic."""

from __future__ import annotations

import ast

from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.view.walk import walk


def is_false(node: ast.expr) -> bool:
    """Whether the expression is the constant False."""
    return isinstance(node, ast.Constant) and node.value is False


def is_none(node: ast.AST | None) -> bool:
    """Whether an expression is the constant None."""
    return isinstance(node, ast.Constant) and node.value is None


def integer(node: ast.expr) -> int | None:
    """The whole number that is written out, with its sign; None for anything else."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as operand):
            number = integer(operand)
            return -number if number is not None else None
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
    return None


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
