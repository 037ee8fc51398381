"""Attributes that only the old NCCL backend object has, and which of them some code asks an object for."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView
from torchlift.view.walk import walk

MISSING = {
    "_group_start": "Send and receive in one batch with `dist.batch_isend_irecv([...])`.",
    "_group_end": "Send and receive in one batch with `dist.batch_isend_irecv([...])`.",
    "_is_initialized": "The communicator of the new engine is made together with the group: the answer would be True.",
    "_set_default_timeout": "Write `dist.set_timeout(timeout, group)` (2.14+), which reaches every backend of the group.",
    "_set_enable_nan_check": "Set `TORCH_DIST_NAN_CHECK=1` before the group is created, which works with any backend.",
    "comm_split_count": "Nothing replaces the counter; count the `split_group` and `new_group` calls instead.",
    "uid": "Nothing replaces it; `group.group_name` tells groups apart.",
    "get_build_nccl_version": "Write `torch.cuda.nccl.version()`.",
    "get_runtime_nccl_version": "Write `torch.cuda.nccl.version()`.",
    "NCCLConfig": "Write `dist.ProcessGroupNCCL.NCCLConfig`, through the class and not through the backend object.",
}  # fmt: skip
"""What `dir(ProcessGroupNCCL)` has and `dir(ProcessGroupNCCL2)` has not, on the torch 2.15.0 wheel; with what to write instead."""


def missing_behind(view: ModuleView, tested: ast.expr, test: ast.expr) -> list[str] | None:
    """The `MISSING` names that are read from `tested` where `test` holds; None where not every read of it can be seen.

    `tested` has to be a plain name, and `test` the condition, or part of the condition, of an `if` or `while` statement or
    of a conditional expression, that holds only if `test` does.
    """
    region = _where_it_holds(view, test)
    if not region or not isinstance(tested, ast.Name):
        return None
    found: list[str] = []
    for node in (child for part in region for child in walk(part)):
        if isinstance(node, ast.Name) and node.id == tested.id:
            parent = view.parent(node)
            if not isinstance(parent, ast.Attribute):
                return None
            if parent.attr in MISSING and parent.attr not in found:
                found.append(parent.attr)
    return found


def _where_it_holds(view: ModuleView, test: ast.expr) -> list[ast.AST]:
    """The code that runs only where `test` holds; nothing where that is not plain to see."""
    found: list[ast.AST] = []
    for child, ancestor in view.upwards(test):
        if isinstance(ancestor, ast.BoolOp) and isinstance(ancestor.op, ast.And):
            found += ancestor.values[next(i for i, value in enumerate(ancestor.values) if value is child) + 1 :]
        elif isinstance(ancestor, (ast.If, ast.While)) and child is ancestor.test:
            return [*found, *ancestor.body]
        elif isinstance(ancestor, ast.IfExp) and child is ancestor.test:
            return [*found, ancestor.body]
        else:
            break
    return []
