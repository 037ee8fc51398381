"""What a `batch_isend_irecv` call is given: the operations in its list, and whether the list may be empty."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.p2p.calls import BATCH, OP
from torchlift.view import Binding, ModuleView


@dataclass(frozen=True)
class BatchList:
    """The list given to one batch.

    Attributes:
        operations: the `P2POp` calls known to be in it, in source order.
        complete: whether every element is known and each is put in exactly once.
        name: the local name it is bound to, if any.
        made: the statement that makes it, if it is bound to a name.
        fills: the statements that put something in, if it is bound to a name and made empty.
        escapes: whether other code may put something in too.
    """

    operations: tuple[ast.Call, ...]
    complete: bool
    name: Binding | None = None
    made: ast.stmt | None = None
    fills: tuple[ast.stmt, ...] = ()
    escapes: bool = False


def list_argument(batch: ast.Call) -> ast.expr | None:
    """The one argument of `batch_isend_irecv`."""
    if len(batch.args) == 1 and not batch.keywords and not isinstance(batch.args[0], ast.Starred):
        return batch.args[0]
    if not batch.args and len(batch.keywords) == 1 and batch.keywords[0].arg == "p2p_op_list":
        return batch.keywords[0].value
    return None


def batch_list(view: ModuleView, batch: ast.Call) -> BatchList | None:
    """The list given to `batch`; None where it is not made in the same function."""
    given = list_argument(batch)
    if isinstance(given, ast.List):
        operations = [_operation(view, element) for element in given.elts]
        known = tuple(operation for operation in operations if operation is not None)
        return BatchList(known, len(known) == len(operations))
    if not isinstance(given, ast.Name):
        return None
    binding = view.definition(given)
    if binding is None or binding.kind != "assign" or binding.statement is None or binding.scope.kind == "class":
        return None
    elements = list_made(binding.value)
    if elements is None:
        return None
    starts_empty = not elements
    fills: list[ast.stmt] = []
    escapes = False
    for read, _ in view.reads_of(binding):
        added = _added(view, read)
        if added is not None:
            elements += added
            fills.append(view.statement(read))
        elif not _only_looks(view, read) and read is not given:
            escapes = True
    found = [_operation(view, element) for element in elements]
    known = tuple(sorted((one for one in found if one is not None), key=lambda one: (one.lineno, one.col_offset)))
    same_block = all(_is_beside(view, fill, binding.statement) for fill in fills)
    complete = len(known) == len(found) and not escapes and same_block
    return BatchList(known, complete, binding, binding.statement, tuple(fills) if starts_empty else (), escapes)


def list_made(node: ast.expr | None) -> list[ast.expr] | None:
    """What is in a list where it is made, by `[...]` or `list()`; None for anything else."""
    match node:
        case ast.List(elts=elements):
            return list(elements)
        case ast.Call(func=ast.Name(id="list"), args=[], keywords=[]):
            return []
    return None


def operations_of(view: ModuleView, batch: ast.Call) -> tuple[ast.Call, ...]:
    """The `P2POp` calls known to be in the list of `batch`."""
    found = batch_list(view, batch)
    return found.operations if found is not None else ()


def _operation(view: ModuleView, node: ast.expr) -> ast.Call | None:
    """The `P2POp` call that an element is or is bound to."""
    made = assigned_value(view, node) or node
    return made if isinstance(made, ast.Call) and view.certain_name(made.func) == OP else None


def _added(view: ModuleView, read: ast.Name) -> list[ast.expr] | None:
    """What a statement puts in a list; None if it puts in nothing."""
    parent = view.parent(read)
    if isinstance(parent, ast.Attribute) and parent.attr in {"append", "insert", "extend"}:
        call = view.parent(parent)
        if isinstance(call, ast.Call) and call.func is parent and call.args and not call.keywords:
            value = call.args[-1]
            if parent.attr != "extend":
                return [value]
            return list(value.elts) if isinstance(value, (ast.List, ast.Tuple)) else [value]
    return None


def _only_looks(view: ModuleView, read: ast.Name) -> bool:
    """Whether a read of a list leaves it as it is: a truth test, `len`, a loop, an index."""
    parent = view.parent(read)
    match parent:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
            return test is read
        case ast.Call(func=ast.Name(id="len" | "print" | "bool" | "any" | "str" | "sorted")):
            return True
        case ast.For(iter=iterable) | ast.comprehension(iter=iterable):
            return iterable is read
        case ast.BoolOp() | ast.UnaryOp() | ast.Compare():
            return True
        case ast.Call():
            return view.possible_name(parent.func) == BATCH
    return False


def _is_beside(view: ModuleView, fill: ast.stmt, made: ast.stmt) -> bool:
    block: Sequence[ast.stmt] = view.block(made)
    return any(item is fill for item in block)
