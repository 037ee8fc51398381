"""The rewrites that delete a test, with the calls of it."""

from __future__ import annotations

import ast

from torchlift.finding import DeleteStatement, Rewrite
from torchlift.project import Project
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.torchscript.scripting_tests.scripted_values import FunctionNode
from torchlift.rules.torchscript.scripting_tests.scripting_helpers import may_mean
from torchlift.view import ModuleView


class StillNeeded(Exception):
    """Something else than the test runner uses the test; the message is a clause that names it."""


def deleted(view: ModuleView, function: FunctionNode, project: Project) -> tuple[Rewrite, ...]:
    """Rewrites that delete `function` and the statements that do nothing but call it.

    Raises:
        StillNeeded: it is used otherwise.
    """
    span = view.span(function)
    rewrites: list[Rewrite] = [DeleteStatement(span, len(comments_above(view, function)), apart=True)]
    for read in _reads(view, function):
        if function in view.ancestors(read):
            continue
        statement = view.statement(read)
        call = view.parent(read)
        if not isinstance(statement, ast.Expr) or statement.value is not call or not isinstance(call, ast.Call):
            raise StillNeeded(f"`{function.name}` is used on line {read.lineno}, too")
        rewrites.append(DeleteStatement(view.span(statement)))
    if not isinstance(view.parent(function), ast.ClassDef) and _imported(view, function, project):
        raise StillNeeded(f"`{function.name}` may be imported by other files")
    return tuple(rewrites)


def _reads(view: ModuleView, function: FunctionNode) -> list[ast.expr]:
    if isinstance(view.parent(function), ast.ClassDef):
        named = [node for node in view.attributes_named(function.name) if isinstance(node.ctx, ast.Load)]
        return [node for node in named if may_mean(view, node, function)]
    bound = view.scope_at(function).bindings.get(function.name, ())
    binding = next((item for item in bound if item.node is function), None)
    return [read for read, _ in view.reads_of(binding)] if binding is not None else []


def _imported(view: ModuleView, function: FunctionNode, project: Project) -> bool:
    bound = view.scopes.module.bindings.get(function.name, ())
    binding = next((item for item in bound if item.node is function), None)
    return binding is not None and project.may_be_imported(view, binding)
