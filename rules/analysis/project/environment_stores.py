"""Places where Python code sets environment variables whose names it says: for this process, or for one it starts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

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
        for_child: whether it is set in a copy of the environment, which processes are started with.
    """

    name: str
    node: ast.expr
    value: ast.expr | None
    for_child: bool = False


def stores(view: ModuleView, use: Use) -> Iterator[Store]:
    """Variables that a use of `os.environ` or `os.putenv` sets: by item, `setdefault`, `update` or `putenv`.

    Those that are set in a copy of `os.environ` are for processes that are started with it.
    """
    copy = _copy(view, use)
    if copy is not None:
        yield from (replace(store, for_child=True) for store in _in_copy(view, copy))
        return
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
            yield from _updated(view, call)


def _updated(view: ModuleView, call: ast.Call) -> Iterator[Store]:
    """What `update(...)` or `dict(...)` is given."""
    for argument in call.args:
        if isinstance(argument, ast.Dict):
            yield from _displayed(view, argument)
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield Store(keyword.arg, keyword.value, keyword.value)


def _displayed(view: ModuleView, display: ast.Dict) -> Iterator[Store]:
    for key, value in zip(display.keys, display.values, strict=True):
        if key is not None:
            yield from _named(view, key, value)


def _copy(view: ModuleView, use: Use) -> ast.Call | ast.Dict | None:
    """`os.environ.copy()`, `dict(os.environ)` or `{**os.environ}`, where a use of `os.environ` stands in one."""
    if not isinstance(use.node, ast.expr):
        return None
    around = view.parent(use.node)
    match around:
        case ast.Attribute(attr="copy") if isinstance(call := view.parent(around), ast.Call) and call.func is around:
            return call
        case ast.Call(func=ast.Name(id="dict"), args=[first, *_]) if first is use.node:
            return around
        case ast.Dict() if any(key is None and value is use.node for key, value in _pairs(around)):
            return around
    return None


def _pairs(display: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    yield from zip(display.keys, display.values, strict=True)


def _in_copy(view: ModuleView, copy: ast.Call | ast.Dict) -> Iterator[Store]:
    """Variables in a copy of the environment, and those set in the name that it is bound to."""
    yield from _displayed(view, copy) if isinstance(copy, ast.Dict) else _updated(view, copy)
    statement = view.parent(copy)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    binding = view.bound_by(statement.targets[0])
    for read, _ in view.reads_of(binding) if binding is not None else ():
        parent = view.parent(read)
        match parent:
            case ast.Subscript(ctx=ast.Store(), slice=key) if parent.value is read:
                assign = view.parent(parent)
                yield from _named(view, key, assign.value if isinstance(assign, ast.Assign) else None)
            case ast.Attribute(attr="update") if isinstance(call := view.parent(parent), ast.Call):
                yield from _updated(view, call)
            case ast.Attribute(attr="setdefault") if isinstance(call := view.parent(parent), ast.Call) and call.args:
                yield from _named(view, call.args[0], call.args[1] if len(call.args) > 1 else None)


def _named(view: ModuleView, key: ast.expr, value: ast.expr | None) -> Iterator[Store]:
    constant = key
    if isinstance(key, ast.Name):
        binding = view.definition(key)
        if binding is not None and binding.kind == "assign" and binding.value is not None:
            constant = binding.value
    if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
        yield Store(constant.value, key, value)
