"""Whether code already handles both the old and the new release: version tests, `hasattr`, import fallbacks."""

from __future__ import annotations

import ast
import re

from torchlift.versions import TorchVersion
from torchlift.view.module import ModuleView
from torchlift.view.release_tests import decided
from torchlift.view.walk import walk

_VERSION_WORD = re.compile(
    r"(?<!opset_)version|torch_?(?:ge|gt|le|lt|eq|greater|less)(?:_|\b|\d)|torch_?\d|is_torch_\w*\d", re.IGNORECASE
)
_TORCH_PACKAGES = frozenset({"torch", "torchvision", "torchaudio"})
_FALLBACK_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "NameError"})
_ANY_ERROR = frozenset({"Exception", "BaseException"})


def is_guarded(view: ModuleView, node: ast.AST, lowest: TorchVersion | None = None) -> bool:
    """Whether `node` runs only where a test or a handler has dealt with the other release.

    A test that every torch from `lowest` on passes deals with nothing; behind one that none of them passes nothing runs.
    """
    child = node
    for ancestor in view.ancestors(node):
        if isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test:
            if tests_release(view, ancestor.test) and not _surely_runs(view, ancestor, child, lowest):
                return True
        elif isinstance(ancestor, ast.Try) and any(child is statement for statement in ancestor.body):
            if any(_catches_missing_name(handler) for handler in ancestor.handlers) and _tries_name(child):
                return True
        elif isinstance(ancestor, ast.ExceptHandler) and _catches_missing_name(ancestor):
            return True
        child = ancestor
    return False


def _surely_runs(view: ModuleView, choice: ast.If | ast.IfExp, child: ast.AST, lowest: TorchVersion | None) -> bool:
    """Whether the test of `choice` asks about no release from `lowest` on, as far as it decides about `child`."""
    body = choice.body if isinstance(choice.body, list) else [choice.body]
    if lowest is None:
        return False
    answer = decided(view, choice.test, lowest)
    if answer is not None:
        return answer is any(child is statement for statement in body)
    open_parts = choice.test.values if isinstance(choice.test, ast.BoolOp) else []
    return bool(open_parts) and not any(
        tests_release(view, part) and decided(view, part, lowest) is None for part in open_parts
    )


def is_last_resort_for(view: ModuleView, node: ast.AST, names: frozenset[str]) -> bool:
    """Whether `node` runs only where a `try` that looks one of `names` up has failed, with whatever error."""
    for ancestor in view.ancestors(node):
        parent = view.parent(ancestor)
        if isinstance(ancestor, ast.ExceptHandler) and isinstance(parent, ast.Try) and catches_anything(ancestor):
            tried = {id(child) for statement in parent.body for child in walk(statement)}
            if any(id(use.node) in tried for use in view.uses(names)):
                return True
    return False


def catches_anything(handler: ast.ExceptHandler) -> bool:
    """Whether `handler` takes every error."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _ANY_ERROR) for kind in types)


def tests_release(view: ModuleView, test: ast.expr) -> bool:
    """Whether a condition asks about a release, or about what a release of torch has."""
    for node in walk(test):
        word = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if _VERSION_WORD.search(word):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr" and node.args:
            # Asked about a part of torch, or of its companions, it is about the release; about anything else it is not.
            resolution = view.resolve(node.args[0])
            if resolution is not None and resolution.name.partition(".")[0] in _TORCH_PACKAGES:
                return True
    return False


def _catches_missing_name(handler: ast.ExceptHandler) -> bool:
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in _FALLBACK_ERRORS for kind in types)


def _tries_name(statement: ast.AST) -> bool:
    """Whether the tried statement is a look-up of a name (an import, an alias), not work that may fail in other ways."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    value = getattr(statement, "value", None)
    return isinstance(value, (ast.Name, ast.Attribute, ast.Call))
