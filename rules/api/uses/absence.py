"""Code that copes with a name that is not there, in ways that no test of a version shows."""

from __future__ import annotations

import ast

from torchlift.api_changes.before_the_table import EARLIER
from torchlift.api_changes.changes import gone_names
from torchlift.rules.analysis.places.order import leaves
from torchlift.torch_names import public_name
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView
from torchlift.view.guards import tests_release
from torchlift.view.handlers import catches_anything
from torchlift.view.release_tests import decided
from torchlift.view.walk import walk


def copes_without(view: ModuleView, node: ast.AST, target: TorchVersion) -> bool:
    """Whether what surrounds `node` already says what happens on a torch that lacks the name.

    An import inside a `try` whose handler takes any error, and code behind an `if` or an `assert` about the release that
    leaves the function, the loop or the file.
    """
    for child, ancestor in view.upwards(node):
        if isinstance(ancestor, ast.Try) and isinstance(child, (ast.Import, ast.ImportFrom)):
            tried = any(child is statement for statement in ancestor.body)
            if tried and any(map(catches_anything, ancestor.handlers)):
                return True
        if isinstance(child, ast.stmt) and _left_before(view, child, target):
            return True
    return any(_is_flagged(view, choice.test) for choice, _ in view.choices(node))


def _is_flagged(view: ModuleView, test: ast.expr) -> bool:
    """Whether a condition reads a flag that says whether an import worked that no longer does."""
    names = [node for node in walk(test) if isinstance(node, ast.Name)]
    return any(
        _follows_tried_import(view, view.statement(binding.node))
        for name in names
        for binding in view.scope_at(name).frame.bindings.get(name.id, ())
        or view.scopes.module.bindings.get(name.id, ())
    )


def _follows_tried_import(view: ModuleView, statement: ast.stmt | None) -> bool:
    """Whether `flag = True` stands in a `try` with an import of what torch removed."""
    around = view.parent(statement) if statement is not None else None
    if not isinstance(around, ast.Try) or not isinstance(statement, ast.Assign):
        return False
    if not isinstance(statement.value, ast.Constant) or statement.value.value is not True:
        return False
    tried = [item for item in around.body if isinstance(item, (ast.Import, ast.ImportFrom))]
    modules = [item.module or "" for item in tried if isinstance(item, ast.ImportFrom)]
    modules += [
        f"{item.module}.{alias.name}" for item in tried if isinstance(item, ast.ImportFrom) for alias in item.names
    ]
    modules += [alias.name for item in tried if isinstance(item, ast.Import) for alias in item.names]
    return statement not in around.finalbody and any(
        public_name(name) in gone_names() or name in EARLIER for name in modules
    )


def asks_for(view: ModuleView, node: ast.AST, word: str) -> bool:
    """Whether `node` runs under a condition that names `word` in a text: code that looks for a parameter before using it."""
    return any(
        isinstance(part, ast.Constant) and part.value == word
        for choice, _ in view.choices(node)
        for part in walk(choice.test)
    )


_SIGNATURES = ("inspect.signature", "inspect.getfullargspec", "inspect.getargspec")


def reads_signature(view: ModuleView, node: ast.AST, name: str) -> bool:
    """Whether the function around `node` asks which parameters `name` has: it calls what the release at hand knows."""
    around = view.function_of(node) or view.tree
    return any(
        isinstance(call, ast.Call)
        and bool(call.args)
        and view.possible_name(call.func) in _SIGNATURES
        and public_name(view.possible_name(call.args[0])) in {name, f"{name}.__init__"}
        for call in walk(around)
    )


def _left_before(view: ModuleView, statement: ast.stmt, target: TorchVersion) -> bool:
    """Whether an earlier statement of the same block leaves it, depending on the release, and may do so on `target`."""
    for earlier in view.block(statement):
        if earlier is statement:
            return False
        if isinstance(earlier, ast.Assert) and _may_be(view, earlier.test, target, False):
            return True
        if not isinstance(earlier, ast.If):
            continue
        if leaves(earlier.body) and _may_be(view, earlier.test, target, True):
            return True
    return False


def _may_be(view: ModuleView, test: ast.expr, target: TorchVersion, answer: bool) -> bool:
    """Whether a condition about the release may have that answer on `target`."""
    return tests_release(view, test) and decided(view, test, target) in {None, answer}
