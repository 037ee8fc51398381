"""Places where Python code sets environment variables whose names it says: for this process, or for one it starts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.view import ModuleView, Use

TARGETS = ("os.environ", "os.putenv")
"""Names whose uses `stores` looks at."""


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """One variable that is set.

    Attributes:
        name: the variable.
        node: the expression to report: the string, or the keyword's value.
        value: what it is set to; None where that is not an expression of its own.
    """

    name: str
    node: ast.expr
    value: ast.expr | None


def stores(view: ModuleView, use: Use) -> Iterator[Store]:
    """Variables that a use of `os.environ` or `os.putenv` sets: by item, `setdefault`, `update` or `putenv`."""
    if not isinstance(use.node, ast.expr) or use.name not in {
        "os.environ", "os.environ.setdefault", "os.environ.update", "os.putenv",
    }:  # fmt: skip
        return
    parent = view.parent(use.node)
    if isinstance(parent, ast.Subscript) and parent.value is use.node and isinstance(parent.ctx, ast.Store):
        statement = view.parent(parent)
        yield from _named(view, parent.slice, statement.value if isinstance(statement, ast.Assign) else None)
    elif use.name == "os.putenv" and use.call is not None and len(use.call.args) == 2:
        yield from _named(view, use.call.args[0], use.call.args[1])
    elif (
        isinstance(parent, ast.Attribute) and isinstance(call := view.parent(parent), ast.Call) and call.func is parent
    ):
        if parent.attr == "setdefault" and call.args:
            yield from _named(view, call.args[0], call.args[1] if len(call.args) > 1 else None)
        elif parent.attr == "update":
            for argument in call.args:
                if isinstance(argument, ast.Dict):
                    for key, value in zip(argument.keys, argument.values, strict=True):
                        if key is not None:
                            yield from _named(view, key, value)
            for keyword in call.keywords:
                if keyword.arg is not None:
                    yield Store(keyword.arg, keyword.value, keyword.value)


def _named(view: ModuleView, key: ast.expr, value: ast.expr | None) -> Iterator[Store]:
    constant = key
    if isinstance(key, ast.Name):
        binding = view.definition(key)
        if binding is not None and binding.kind == "assign" and binding.value is not None:
            constant = binding.value
    if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
        yield Store(constant.value, key, value)
