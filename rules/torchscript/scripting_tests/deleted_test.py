"""The rewrites that delete a test, with the calls of it."""

from __future__ import annotations

import ast

from torchlift.finding import DeleteStatement, Rewrite
from torchlift.project import Project
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.scripting_tests.checks import STEPS_ASIDE
from torchlift.rules.torchscript.scripting_tests.scripted_values import FunctionNode
from torchlift.rules.torchscript.scripting_tests.scripting_helpers import may_mean
from torchlift.view import ModuleView
from torchlift.view.walk import walk


class StillNeeded(Exception):
    """Something else than the test runner uses the test; the message is a clause that names it."""


def deleted(view: ModuleView, function: FunctionNode, project: Project) -> tuple[Rewrite, ...]:
    """Rewrites that delete `function` and the statements that do nothing but call it.

    Raises:
        StillNeeded: it is used otherwise.
    """
    span = view.span(function)
    rewrites: list[Rewrite] = [DeleteStatement(span, len(comments_above(view, function)))]
    for read in _reads(view, function):
        if function in view.ancestors(read):
            continue
        statement = view.statement(read)
        call = view.parent(read)
        if not isinstance(statement, ast.Expr) or statement.value is not call or not isinstance(call, ast.Call):
            raise StillNeeded(f"`{function.name}` is used on line {read.lineno}, too")
        rewrites.append(DeleteStatement(view.span(statement)))
    if (asked := _asked_for(view, view.parent(function), function.name, project)) is not None:
        raise StillNeeded(f"{asked} is abstract, and no test of the class runs without one")
    if not isinstance(view.parent(function), ast.ClassDef) and _imported(view, function, project):
        raise StillNeeded(f"`{function.name}` may be imported by other files")
    return tuple(rewrites)


def _asked_for(view: ModuleView, owner: ast.AST | None, name: str, project: Project, steps: int = 6) -> str | None:
    """`path:line` of the abstract method of a base of `owner` that a method of this name is for."""
    for base in owner.bases if isinstance(owner, ast.ClassDef) and steps else ():
        found = definition_of(view, base, project, ast.ClassDef)
        if found is None:
            continue
        home, node = found
        own = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == name), None)
        if own is not None and any("abstract" in ast.unparse(decorator) for decorator in own.decorator_list):
            return f"`{node.name}.{name}` ({home.path}:{own.lineno})"
        if own is None and (above := _asked_for(home, node, name, project, steps - 1)) is not None:
            return above
    return None


def overrides(view: ModuleView, function: FunctionNode, project: Project) -> list[tuple[str, DeleteStatement]]:
    """Deletions of tests in classes of other files that take the place of `function` and only skip, with their paths."""
    owner = view.parent(function)
    if not isinstance(owner, ast.ClassDef):
        return []
    found = []
    heirs = set(project.files_holding(owner.name)) - {view.path}
    for path in project.files_holding(function.name) if heirs else ():
        other = project.view(path) if path in heirs and is_test_file(path) else None
        for node in walk(other.tree) if other is not None else ():
            if isinstance(node, ast.ClassDef) and any(_last_name(base) == owner.name for base in node.bases):
                found += [
                    (path, DeleteStatement(other.span(item), len(comments_above(other, item))))
                    for item in node.body
                    if other is not None
                    and isinstance(item, ast.FunctionDef)
                    and item.name == function.name
                    and len(node.body) > 1
                    and _only_skips(item)
                ]
    return found


def _last_name(base: ast.expr) -> str:
    return ast.unparse(base).rpartition(".")[2]


def _only_skips(function: ast.FunctionDef) -> bool:
    for item in function.body:
        value = item.value if isinstance(item, ast.Expr) else None
        skips = isinstance(value, ast.Call) and _last_name(value.func) in STEPS_ASIDE
        if not (skips or isinstance(item, ast.Pass) or isinstance(value, ast.Constant)):
            return False
    return True


def _reads(view: ModuleView, function: FunctionNode) -> list[ast.expr]:
    if isinstance(view.parent(function), ast.ClassDef):
        named = [node for node in view.attributes_named(function.name) if isinstance(node.ctx, ast.Load)]
        return [node for node in named if may_mean(view, node, function)]
    binding = view.bound_by(function)
    return [read for read, _ in view.reads_of(binding)] if binding is not None else []


def _imported(view: ModuleView, function: FunctionNode, project: Project) -> bool:
    bound = view.scopes.module.bindings.get(function.name, ())
    binding = next((item for item in bound if item.node is function), None)
    return binding is not None and project.may_be_imported(view, binding)
