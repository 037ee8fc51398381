"""Takes the names off values that nothing reads."""

from __future__ import annotations

import ast


def without_unread(function: ast.FunctionDef) -> None:
    """Takes the names off values that nothing reads; the calls stay."""
    read = {part.id for part in ast.walk(function) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    for node in ast.walk(function):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list):
                block[:] = [made for one in block for made in _read_only(one, read)] or ([ast.Pass()] if block else [])


def _read_only(statement: ast.stmt, read: set[str]) -> list[ast.stmt]:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return [statement]
    if statement.targets[0].id in read:
        return [statement]
    calls = any(isinstance(part, (ast.Call, ast.Subscript, ast.BinOp)) for part in ast.walk(statement.value))
    return [ast.Expr(statement.value)] if calls else []
