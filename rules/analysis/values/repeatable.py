"""Expressions that may be written a second time: evaluating them again gives the same value and does nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlift.rules.analysis.values.environment_reads import ENVIRONMENT, GETTERS
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_KNOWN = frozenset(
    {*GETTERS, "torch.cuda.device_count", "torch.cuda.is_available", "torch.device",
     "torch.accelerator.is_available", "torch.accelerator.device_count", "torch.distributed.get_node_local_rank",
     "torch.distributed.is_available", "torch.distributed.is_nccl_available"}
)  # fmt: skip
_STORES = frozenset(f"torch.distributed.{name}" for name in ("TCPStore", "FileStore", "HashStore", "PrefixStore"))
_LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "log", "format"})
_NO_EFFECT = frozenset({"print", "str", "int", "len", "repr", "bool", "range", "float", "isinstance", "hasattr"})


def is_repeatable(view: ModuleView, node: ast.expr) -> bool:
    """Whether evaluating `node` twice in a row gives the same value and does nothing else."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=value):
            return is_repeatable(view, value)
        case ast.Subscript():
            return is_repeatable(view, node.value) and is_repeatable(view, node.slice)
        case ast.BinOp():
            return is_repeatable(view, node.left) and is_repeatable(view, node.right)
        case ast.UnaryOp():
            return is_repeatable(view, node.operand)
        case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
            return all(is_repeatable(view, value) for value in values)
        case ast.Compare():
            return all(is_repeatable(view, value) for value in (node.left, *node.comparators))
        case ast.JoinedStr():
            return all(
                isinstance(v, ast.Constant) or (isinstance(v, ast.FormattedValue) and is_repeatable(view, v.value))
                for v in node.values
            )
        case ast.Call(func=ast.Name(id="int" | "str" as name), args=[inner], keywords=[]):
            return view.scope_at(node).lookup(name) is None and is_repeatable(view, inner)
        case ast.Call(keywords=[]):
            if view.certain_name(node.func) in _KNOWN:
                return all(is_repeatable(view, argument) for argument in node.args)
            returned = returned_value(view, node)
            return returned is not None and is_repeatable(view, returned)
        case _:
            return False


def returned_value(view: ModuleView, call: ast.Call) -> ast.expr | None:
    """The expression that a call without arguments gives, where its function of this file does nothing but return it."""
    if call.args or call.keywords:
        return None
    binding = view.definition(call.func)
    if binding is None or not isinstance(binding.node, ast.FunctionDef) or binding.scope.kind != "module":
        return None
    function = binding.node
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if function.decorator_list or len(body) != 1 or not isinstance(body[0], ast.Return):
        return None
    return body[0].value


def is_unchanged(view: ModuleView, node: ast.expr, start: ast.stmt | ast.expr, end: ast.stmt | ast.expr) -> bool:
    """Whether a repeatable `node` surely has the same value at `start` and at `end`, of which `start` comes first.

    Local names must not be bound again in between (or anywhere in a loop around both); anything that other code could
    change (attributes, the environment, globals) must not see a call in between that might do so.
    """
    function = view.function_of(end)
    parts = [child for part in _with_returned(view, node) for child in walk(part)]
    loops = [a for a in view.ancestors(end) if isinstance(a, (ast.For, ast.AsyncFor, ast.While))]
    names = {child.id for child in parts if isinstance(child, ast.Name)}
    attributes = {child.attr for child in parts if isinstance(child, ast.Attribute)}
    between = list(nodes_between(function or view.tree, start, end))
    if isinstance(end, ast.Call):
        # What a fix adds to a call is evaluated behind the arguments it has.
        between += [child for part in (*end.args, *end.keywords) for child in walk(part)]
    for child in [*between, *(inner for loop in loops for inner in walk(loop))]:
        if isinstance(child, ast.Name) and child.id in names and not isinstance(child.ctx, ast.Load):
            return False
        if isinstance(child, ast.Attribute) and child.attr in attributes and not isinstance(child.ctx, ast.Load):
            return False
    if any(_is_bound_between(view, node, name, start, end) for name in names):
        return False
    if isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and _is_local(view, node, function)):
        return True
    variables: set[object] = {child.value for child in parts if isinstance(child, ast.Constant)}
    return not any(_may_change_state(view, child, variables) for child in between)


def _with_returned(view: ModuleView, node: ast.expr, depth: int = 0) -> Iterator[ast.expr]:
    """An expression and, of the small functions it calls, the expressions they return."""
    yield node
    for child in walk(node) if depth < 4 else ():
        returned = returned_value(view, child) if isinstance(child, ast.Call) else None
        if returned is not None:
            yield from _with_returned(view, returned, depth + 1)


def _is_bound_between(
    view: ModuleView, at: ast.expr, name: str, start: ast.stmt | ast.expr, end: ast.stmt | ast.expr
) -> bool:
    """Whether an import, a definition, a handler or anything else binds `name` between two places."""
    owner = view.scope_at(at).lookup(name)
    first, last = (start.end_lineno or start.lineno, start.end_col_offset or 0), (end.lineno, end.col_offset)
    for binding in owner.bindings.get(name, ()) if owner is not None else ():
        place = binding.statement or binding.node
        if first <= (getattr(place, "lineno", 0), getattr(place, "col_offset", 0)) < last:
            return True
        place = binding.node
        if first <= (getattr(place, "lineno", 0), getattr(place, "col_offset", 0)) < last:
            return True
    return False


def nodes_between(root: ast.AST, start: ast.stmt | ast.expr, end: ast.stmt | ast.expr) -> Iterable[ast.AST]:
    """Nodes of `root` that begin after `start` has ended and end before `end` begins."""
    first, last = (start.end_lineno or start.lineno, start.end_col_offset or 0), (end.lineno, end.col_offset)
    for child in walk(root):
        if isinstance(child, (ast.expr, ast.stmt, ast.keyword)):
            begin = (child.lineno, child.col_offset)
            if first <= begin and (child.end_lineno or child.lineno, child.end_col_offset or 0) <= last:
                yield child


def _is_local(view: ModuleView, node: ast.Name, function: ast.AST | None) -> bool:
    owner = view.scope_at(node).lookup(node.id)
    if function is None or owner is None or owner.kind != "function":
        return False
    return not any(isinstance(child, ast.Nonlocal) and node.id in child.names for child in walk(view.tree))


def _may_change_state(view: ModuleView, node: ast.AST, variables: set[object]) -> bool:
    """Whether `node` may change what an expression that names the environment `variables` evaluates to."""
    if isinstance(node, ast.Call):
        return not is_harmless_call(view, node)
    if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.AsyncFor, ast.AsyncWith)):
        return True  # other code runs meanwhile
    return stores_item(view, node, variables)


def stores_item(view: ModuleView, node: ast.AST, variables: set[object]) -> bool:
    """Whether `node` stores or deletes an item that may be one of `variables`, keys of the environment or of any dict."""
    if isinstance(node, ast.Delete):
        return True
    if not isinstance(node, ast.Subscript) or isinstance(node.ctx, ast.Load):
        return False
    if view.possible_name(node.value) == ENVIRONMENT and isinstance(node.slice, ast.Constant):
        return node.slice.value in variables
    return True


def is_harmless_call(view: ModuleView, call: ast.Call) -> bool:
    """Whether a call surely changes neither the program's settings nor the current device: output and torch's own."""
    function = call.func
    if isinstance(function, ast.Name) and function.id in _NO_EFFECT:
        return view.scope_at(call).lookup(function.id) is None
    resolution = view.resolve(function)
    if resolution is not None:
        if resolution.name.startswith("torch.distributed.") and resolution.name.rpartition(".")[2][:1].islower():
            return True
        if resolution.name in _KNOWN | _STORES or resolution.name.startswith(("logging.", "warnings.", "datetime.")):
            return True
    if isinstance(function, ast.Attribute) and function.attr == "format" and isinstance(function.value, ast.Constant):
        return True
    root = function.value if isinstance(function, ast.Attribute) else None
    named = last_name(root)
    return (
        isinstance(function, ast.Attribute)
        and function.attr in _LOGGING
        and named.lower().strip("_") in {"logger", "log"}
    )
