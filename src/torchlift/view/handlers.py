"""Which errors a `try` takes, and whether code is the older way that stands in its handler.

Sources of the names: "Built-in exceptions" of Python's documentation; torch/jit/frontend.py of torch 2.13.0; read 2026-11-27.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchlift.view.module import ModuleView
from torchlift.view.walk import walk

ABSENT_NAME = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "NameError"})
"""What a name raises that is not there."""
ABSENT_PARAMETER = frozenset({"TypeError"})
"""What a call raises that gives a function a parameter which it does not have."""
FAILED_CALL = frozenset({"RuntimeError", "NotImplementedError"})
"""What torch raises for what a value or a build of it cannot do."""
NOT_SCRIPTABLE = frozenset({"RuntimeError", "NotSupportedError"})
"""What the TorchScript compiler raises for what it cannot compile."""
_ANYTHING = frozenset({"Exception", "BaseException"})


def caught(handler: ast.ExceptHandler) -> frozenset[str]:
    """Last names of the classes that a handler names; `BaseException` for a bare one."""
    if handler.type is None:
        return frozenset({"BaseException"})
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return frozenset(ast.unparse(kind).rpartition(".")[2] for kind in types)


def catches_anything(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes every error."""
    return not _ANYTHING.isdisjoint(caught(handler))


def may_be_for(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    """Whether a handler names one of `errors`, or takes every error."""
    return not (errors | _ANYTHING).isdisjoint(caught(handler))


def tried_around(view: ModuleView, node: ast.AST) -> Iterator[ast.Try]:
    """The `try` statements in whose body `node` stands, the innermost first."""
    for child, ancestor in view.upwards(node):
        if isinstance(ancestor, ast.Try) and any(child is statement for statement in ancestor.body):
            yield ancestor


def failed_before(view: ModuleView, node: ast.AST) -> Iterator[tuple[ast.ExceptHandler, ast.Try]]:
    """The handlers that `node` stands in, the innermost first, each with the `try` that failed when it runs."""
    for ancestor in view.ancestors(node):
        around = view.parent(ancestor)
        if isinstance(ancestor, ast.ExceptHandler) and isinstance(around, ast.Try):
            yield ancestor, around


def stands_in_for(
    view: ModuleView, node: ast.AST, is_new: Callable[[ast.AST], bool], errors: frozenset[str] = frozenset()
) -> bool:
    """Whether `node` runs only where a `try` of something new has failed, with one of `errors` or with whatever error."""
    return any(
        may_be_for(handler, errors) and any(is_new(part) for statement in around.body for part in walk(statement))
        for handler, around in failed_before(view, node)
    )
