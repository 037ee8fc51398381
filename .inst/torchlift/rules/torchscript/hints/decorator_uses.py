"""Decorators that only speak to the TorchScript compiler: where they stand, and how to take them off."""

from __future__ import annotations

import ast

from torchlift.finding import DeleteStatement, DropDecorator, ReplaceExpression, Rewrite, Template
from torchlift.rules.analysis.places.whole_statements import assigns_itself
from torchlift.rules.torchscript.hints.annotated_values import takes_any
from torchlift.view import ModuleView, Use


def decorator_of(use: Use, view: ModuleView) -> ast.expr | None:
    """The whole decorator expression if `use` is one: `torch.jit.ignore` or `torch.jit.ignore(drop=True)`."""
    if use.kind == "decorator" and isinstance(use.node, ast.expr):
        return use.node
    if use.call is not None:
        parent = view.parent(use.call)
        if any(use.call is decorator for decorator in getattr(parent, "decorator_list", ())):
            return use.call
    return None


def without_decorator(use: Use, view: ModuleView) -> Rewrite | None:
    """What takes a decorator off, written above a definition or called with a function that it hands back."""
    decorator = decorator_of(use, view)
    if decorator is not None:
        return DropDecorator(view.span(decorator))
    call = use.call
    if call is None or len(call.args) != 1 or call.keywords or isinstance(call.args[0], (ast.Starred, ast.Constant)):
        return None
    return handed_back(view, call, call.args[0])


def handed_back(view: ModuleView, call: ast.Call, value: ast.expr) -> Rewrite:
    """What puts `value` in the place of a call that returns it; `f = mark(f)` goes as a whole."""
    statement = view.parent(call)
    if isinstance(statement, ast.stmt) and assigns_itself(view, statement, value):
        return DeleteStatement(view.span(statement))
    template = Template("$value", (("value", view.span(value)),))
    return ReplaceExpression(view.span(call), template, bare=takes_any(view, call, value))
