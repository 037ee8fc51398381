"""Names that speak of scripting, in a test that captures in another way from now on: `test_jit`, `op_script`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from torchlift.finding import DropDecorator, ReplaceExpression, ReplaceText, Rewrite, Template
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.scripting_tests.deleted_test import StillNeeded, deleted
from torchlift.rules.torchscript.scripting_tests.scripted_values import FunctionNode
from torchlift.rules.torchscript.scripting_tests.scripting_helpers import may_be_subclassed
from torchlift.source import Span
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_OLD = frozenset(
    "jit jitted script scripted scripting scriptable torchscript torchscriptable trace traced tracing".split()
)
_VERBS = {"torch.compile": "compile", "torch.export.export": "export"}
_SELECTION = lazy_pattern(r"\bpy\.?test\b[^\n|;&]*?\s-k[ =]\s*(?P<quote>[\"'])(?P<words>[^\"'\n]+)(?P=quote)")
_MOST_BASES = 6
_JOINS = frozenset({"and", "or", "not"})


def without_old_names(
    view: ModuleView, function: FunctionNode, project: Project, calls: list[tuple[ast.Call, str]]
) -> tuple[list[Rewrite], list[str]]:
    """Rewrites that name what `calls` capture, and the test around them, by the capture, and clauses about the new names.

    Args:
        view: the file of the test.
        function: the test.
        project: where else its name may stand.
        calls: what captures, with the qualified name of what captures there from now on.
    """
    taken = {node.id for node in walk(view.tree) if isinstance(node, ast.Name)}
    taken |= {node.arg for node in walk(function) if isinstance(node, ast.arg)}
    rewrites: list[Rewrite] = []
    for call, capture in calls:
        new, places = _variable(view, call, _past(_VERBS[capture]))
        if places and new not in taken:
            taken.add(new)
            rewrites += (ReplaceExpression(view.span(place), Template(new)) for place in places)
    told: list[str] = []
    for mark in function.decorator_list:
        if isinstance(mark, ast.Attribute) and mark.attr in _OLD and view.text(mark.value) == "pytest.mark":
            rewrites.append(DropDecorator(view.span(mark)))
            told.append(f"it loses the marker `{mark.attr}`, by which commands may select it or leave it out")
    name = _renamed(function.name, _VERBS[calls[0][1]])
    if name != function.name and _only_runs(view, function, project, name):
        rewrites.append(ReplaceText(_of_name(view, function), name))
        told += _selected_otherwise(project, function.name, name)
    return rewrites, told


def _past(verb: str) -> str:
    return verb + "d" if verb.endswith("e") else verb + "ed"


def _renamed(name: str, word: str) -> str:
    """`name` with `word` for its parts that speak of scripting, which are set apart by `_`."""
    parts = [word if part in _OLD else part for part in name.split("_")]
    return "_".join([parts[0], *(after for before, after in pairwise(parts) if not before == after == word)])


def _variable(view: ModuleView, call: ast.Call, word: str) -> tuple[str, list[ast.Name]]:
    """The new name of the local variable that a captured value is bound to, and all places of it; none if it stays."""
    statement = view.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    binding = view.bound_by(target) if isinstance(target, ast.Name) else None
    if not isinstance(target, ast.Name) or binding is None or binding.scope.kind != "function":
        return "", []
    new = _renamed(target.id, word)
    if new == target.id or len(binding.scope.bindings[binding.name]) != 1:
        return "", []
    reads = view.reads_of(binding)
    return new, [target, *(read for read, _ in reads)] if all(only for _, only in reads) else []


def _only_runs(view: ModuleView, function: FunctionNode, project: Project, new: str) -> bool:
    """Whether nothing but pytest knows a test by its name, and `new` is free."""
    owner = view.parent(function)
    body = owner.body if isinstance(owner, (ast.ClassDef, ast.Module)) else []
    named = [item.name for item in body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    others = {_renamed(name, verb) for name in named if name != function.name for verb in _VERBS.values()}
    if new in {*named, *others} or named.count(function.name) != 1 or f'"{function.name}"' in view.source.text:
        return False
    try:
        if len(deleted(view, function, project)) > 1:
            return False
    except StillNeeded:
        return False
    if not isinstance(owner, ast.ClassDef):
        return not view.scopes.module.bindings.get(new)
    heirs = [node for node in walk(view.tree) if isinstance(node, ast.ClassDef) and _derives(node, owner.name)]
    if heirs or may_be_subclassed(view, function, project):
        return False
    return all(_lacks(view, base, project, {function.name, new}) for base in owner.bases)


def _derives(node: ast.ClassDef, name: str) -> bool:
    return any(isinstance(base, ast.Name) and base.id == name for base in node.bases)


def _lacks(view: ModuleView, base: ast.expr, project: Project, names: set[str], depth: int = 0) -> bool:
    """Whether a base class, as far as the project has it, has none of the methods `names`."""
    name = view.certain_name(base)
    if name.startswith(("unittest.", "torch.testing.")):
        return True
    found = definition_of(view, base, project, ast.ClassDef)
    if found is None or depth > _MOST_BASES:
        return False
    home, node = found
    if any(isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and item.name in names for item in node.body):
        return False
    return all(
        (isinstance(one, ast.Name) and one.id in {"ABC", "object"}) or _lacks(home, one, project, names, depth + 1)
        for one in node.bases
    )


def _of_name(view: ModuleView, function: FunctionNode) -> Span:
    """Where the name of a function stands in its definition."""
    start = view.span(function).start
    found = re.compile(rf"def\s+({function.name})\b").search(view.source.text, start)
    assert found is not None
    return Span(*found.span(1))


def _selected_otherwise(project: Project, old: str, new: str) -> Iterator[str]:
    """A clause about the first command that selects tests by a part of their names which only one of the two has."""
    for place in project.mentions("-k"):
        path, _, line = place.rpartition(":")
        text = project.data(path).decode("utf-8", "replace").splitlines()[int(line) - 1]
        for command in _SELECTION.finditer(text):
            words = set(re.findall(r"\w+", command["words"])) - _JOINS
            told = sorted(word for word in words if (word.lower() in old.lower()) != (word.lower() in new.lower()))
            if told:
                yield f"{place} selects tests by `{told[0]}` in their names, and `{old}` becomes `{new}`"
                return
