"""Point-to-point communication that a piece of code reaches, through functions of the same file too."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.distributed.groups.group_identity import group_key
from torchlift.rules.distributed.p2p.batches.batch_operations import operations_of
from torchlift.rules.distributed.p2p.calls import BATCH, OP_PARAMETERS, arguments_of, function_of_call
from torchlift.view import ModuleView

_DEEPEST = 3


def on_default_group(view: ModuleView, nodes: Iterable[ast.AST], depth: int = _DEEPEST) -> ast.Call | None:
    """The first call among `nodes`, or in functions they call, that surely posts something on the default group.

    Functions of the same file and methods of the same class are followed; code that is only defined there is not.
    """
    stack = list(nodes)[::-1]
    called: list[ast.FunctionDef] = []
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Call):
            if _posts_on_default(view, node):
                return node
            function = function_named(view, node.func)
            if function is not None:
                called.append(function)
        stack.extend(reversed(list(ast.iter_child_nodes(node))))
    for function in called if depth else ():
        found = on_default_group(view, function.body, depth - 1)
        if found is not None:
            return found
    return None


def function_named(view: ModuleView, node: ast.expr) -> ast.FunctionDef | None:
    """The function of the same file that a name or `self.method` surely is."""
    if isinstance(node, ast.Name):
        binding = view.definition(node)
        return binding.node if binding is not None and isinstance(binding.node, ast.FunctionDef) else None
    owner = view.class_of(node) if self_attribute(node) is not None else None
    methods = [item for item in (owner.body if owner is not None else ()) if isinstance(item, ast.FunctionDef)]
    named = [method for method in methods if method.name == self_attribute(node)]
    return named[0] if len(named) == 1 else None


def _posts_on_default(view: ModuleView, call: ast.Call) -> bool:
    function = function_of_call(view, call)
    if function is not None:
        arguments = arguments_of(call, function)
        return arguments is not None and not group_key(view, arguments.get("group"))
    if view.certain_name(call.func) != BATCH:
        return False
    found = [named_arguments(operation, OP_PARAMETERS) for operation in operations_of(view, call)]
    return bool(found) and all(one is not None and not group_key(view, one.get("group")) for one in found)
