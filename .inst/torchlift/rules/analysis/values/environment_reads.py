"""Reads of the environment: `os.environ["RANK"]`, `os.environ.get("RANK", "0")`, `os.getenv("RANK")`, however imported."""

from __future__ import annotations

import ast

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.view import ModuleView

ENVIRONMENT = "os.environ"
"""The mapping of all variables."""

GETTERS = frozenset({"os.environ.get", "os.getenv"})
"""Functions that give the value of one variable."""

_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class EnvironmentRead:
    """One read of the environment.

    Attributes:
        variable: the name of the variable; None where it is computed.
        default: what the read gives where the variable is not set; None where it says nothing.
    """

    variable: str | None
    default: ast.expr | None = None


def environment_read(view: ModuleView, node: ast.expr) -> EnvironmentRead | None:
    """The read that `node` itself is; None for anything else."""
    default: ast.expr | None = None
    match node:
        case ast.Subscript(value=environment, slice=key) if view.possible_name(environment) == ENVIRONMENT:
            pass
        case ast.Call(func=function) if view.possible_name(function) in GETTERS:
            given = dict(zip(("key", "default"), node.args, strict=False)) | {k.arg: k.value for k in node.keywords}
            if "key" not in given:
                return None
            key, default = given["key"], given.get("default")
        case _:
            return None
    constant = key.value if isinstance(key, ast.Constant) else None
    return EnvironmentRead(constant if isinstance(constant, str) else None, default)


def environment_variable(view: ModuleView, node: ast.expr, depth: int = 0) -> str | None:
    """The variable whose value `node` is: a read, behind `int(...)` and names that are bound once if need be."""
    match node:
        case ast.Call(func=ast.Name(id="int"), args=[inner]):
            return environment_variable(view, inner, depth)
        case ast.Name() if depth < _DEEPEST:
            value = assigned_value(view, node)
            if value is None or isinstance(value, ast.Name):
                return None
            return environment_variable(view, value, depth + 1)
    read = environment_read(view, node)
    return read.variable if read is not None else None
