"""Functions of tests that do nothing with a scripted value but test scripting: `check_script(f, x)`, `save_and_load(m)`."""

from __future__ import annotations

import ast

from torchlift.finding import EditImport
from torchlift.project import Project
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.places.uses_everywhere import uses_everywhere
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.scripting_tests.checks import holds
from torchlift.rules.torchscript.scripting_tests.reduction import reduce
from torchlift.rules.torchscript.scripting_tests.same_values import SameValues
from torchlift.rules.torchscript.scripting_tests.scripted_values import (
    SAVE,
    FunctionNode,
    Helper,
    ScriptedValues,
    Summary,
)
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_WORDS = ("jit", "script", ".save(")
_MOST_LINES = 80


def helpers_seen(context: Context) -> Summary:
    """The question what a function does with scripted values, asked from the file in view."""

    def summary(view: ModuleView, function: FunctionNode) -> Helper | None:
        return context.once(_summary, view.path, function.lineno)

    return summary


def _summary(context: Context, path: str, line: int) -> Helper | None:
    key = (_summary, (path, line), ())
    context.answers[key] = None  # in the meantime, for functions that call each other
    view = context.view if path == context.view.path else context.project.view(path)
    if view is None:
        return None
    function = next(
        (node for node in walk(view.tree) if isinstance(node, ast.FunctionDef) and node.lineno == line), None
    )
    if function is None or function.name.startswith(("test", "__", "setUp")):
        return None
    text = view.text(function)
    searched = view.source.text if is_test_file(view.path) else text
    if not any(word in searched for word in _WORDS) or text.count("\n") > _MOST_LINES or "yield" in text:
        return None
    return _read(context, view, function)


def _read(context: Context, view: ModuleView, function: ast.FunctionDef) -> Helper | None:
    method = isinstance(view.parent(function), ast.ClassDef) and not any(
        isinstance(item, ast.Name) and item.id == "staticmethod" for item in function.decorator_list
    )
    values = ScriptedValues(view, function, context.project, helpers_seen(context), _given(view, function))
    tests = any(values.helper(node) is not None for node in walk(function) if isinstance(node, ast.Call))
    if not values.uses and not tests and not any(True for _ in values.saves()):
        return None
    same = SameValues(values)
    reduction = reduce(values, same)
    returns = [item for item in reduction.kept if isinstance(item, ast.Return) and item.value is not None]
    if reduction.refusal is not None or any(check not in returns for check in reduction.checks):
        return None
    if len(returns) == 1 and returns[0].value is not None and holds(returns[0].value, values, same):
        return Helper(method=method, holds=True)
    if reduction.checks:
        return None
    if not returns:
        return Helper(method=method) if reduction.gone else None
    if len(returns) > 1 or returns[0].value is None:
        return None
    original = values.original(returns[0].value)
    names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(original, ast.Name) and original.id in names:
        return Helper(names.index(original.id), method)
    return None


def _given(view: ModuleView, function: ast.FunctionDef) -> frozenset[str]:
    """Parameters that have to be scripted values, because they are saved."""
    names = {parameter.arg for parameter in function.args.args}
    found = set()
    for node in walk(function):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        saved = node.args[0] if view.possible_name(node.func) == SAVE else None
        if isinstance(node.func, ast.Attribute) and node.func.attr == "save" and isinstance(node.func.value, ast.Name):
            saved = node.func.value
        if isinstance(saved, ast.Name) and saved.id in names:
            found.add(saved.id)
    return frozenset(found)


def may_be_subclassed(view: ModuleView, method: FunctionNode, project: Project) -> bool:
    """Whether a class of another file may have a method."""
    owner = view.parent(method)
    bound = view.scopes.module.bindings.get(owner.name, []) if isinstance(owner, ast.ClassDef) else []
    return not bound or any(project.may_be_imported(view, binding) for binding in bound)


def callers(view: ModuleView, function: FunctionNode, project: Project) -> list[tuple[ModuleView, FunctionNode]] | None:
    """The outermost functions that use `function`, with their files; None if they are not all known."""
    if isinstance(view.parent(function), ast.ClassDef):
        named = view.attributes_named(function.name)
        places: list[tuple[ModuleView, ast.expr]] = [(view, n) for n in named if may_mean(view, n, function)]
        # One that nothing here calls is called by who is handed an instance.
        others = may_be_subclassed(view, function, project) or not places
        if others and project.files_with_attribute(function.name, (view.path,)):
            return None
    else:
        bound = view.scopes.module.bindings.get(function.name, [])
        if len(bound) != 1 or bound[0].node is not function:
            return None
        places, unknown = uses_everywhere(view, bound[0], project)
        if unknown:
            return None
    found: dict[FunctionNode, ModuleView] = {}
    for home, node in places:
        around = [item for item in home.ancestors(node) if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))]
        if not around:
            return None
        if around[-1] is not function:
            found[around[-1]] = home
    return [(home, caller) for caller, home in found.items()]


def may_mean(view: ModuleView, node: ast.Attribute, method: FunctionNode) -> bool:
    """Whether an attribute may be `method`: not that of `self` in a class that finds another method of this name first."""
    owner = view.class_of(node)
    if owner is None or owner is view.parent(method) or not isinstance(node.value, ast.Name) or node.value.id != "self":
        return True
    pending, seen = [owner], {owner}
    while pending:
        first = pending.pop(0)
        found = next((item for item in first.body if _is_named(item, method.name)), None)
        if found is not None:
            return found is method
        bases = [binding.node for base in first.bases if (binding := view.definition(base)) is not None]
        for base in bases:
            if isinstance(base, ast.ClassDef) and base not in seen:
                seen.add(base)
                pending.append(base)
    return True


def _is_named(item: ast.stmt, name: str) -> bool:
    return isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and item.name == name


def imports_of(view: ModuleView, function: FunctionNode, project: Project) -> list[tuple[str, EditImport]] | None:
    """Removals of the imports of `function` by other files, with their paths; None if it is named otherwise there."""
    if isinstance(view.parent(function), ast.ClassDef) or not view.module:
        return []
    found = []
    for other, use in project.uses_elsewhere(view, function.name) or ():
        binding = use.resolution.binding if use.resolution is not None else None
        if use.kind == "string":
            return None
        if not isinstance(use.node, ast.alias) or binding is None:
            continue
        if not isinstance(binding.statement, ast.ImportFrom) or use.node.name != function.name:
            return None
        found.append((other.path, EditImport(other.span(binding.statement), use.node.name, binding.name)))
    return found
