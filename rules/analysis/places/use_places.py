"""Where a use stands, as far as advice about it depends on that: in a call, a type test, an `except` clause, a string."""

from __future__ import annotations

import ast
import re
from typing import Literal

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.expected_errors import TAKES_ERRORS
from torchlift.rules.rule import Context
from torchlift.view import Binding, ModuleView, Use

UsePlace = Literal[
    "call", "decorator", "base", "annotation", "test", "except", "raises", "raise", "store", "string", "import", "value"
]

_DOTTED = lazy_pattern(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_TESTS = frozenset({"isinstance", "issubclass"})


def place_of(use: Use, context: Context) -> UsePlace | None:
    """Where `use` stands; None where it is not worth a finding of its own.

    That is an import that only this file or nobody uses (those uses are reported), prose that begins with the name, and a
    question whether the name is there.
    """
    view = context.view
    if isinstance(use.node, ast.alias):
        return "import" if is_offered(use, view, context.project) else None
    if use.kind == "string":
        return _place_of_string(use, view)
    if use.kind in {"store", "delete"}:
        return "store"
    if use.kind in {"decorator", "base", "annotation"}:
        return use.kind
    if use.call is not None:
        return "raise" if isinstance(view.parent(use.call), ast.Raise) else "call"
    node = whole_name(use, view)
    return _place_of_value(node, view) if isinstance(node, ast.expr) else None


def whole_name(use: Use, view: ModuleView) -> ast.expr | ast.alias:
    """The node of the whole dotted name, where the rule's target is only its beginning."""
    node = use.node
    if not isinstance(node, ast.expr) or use.kind == "string":
        return node
    for _ in range(use.name.count(".") - use.target.count(".")):
        parent = view.parent(node)
        if not isinstance(parent, ast.Attribute) or parent.value is not node:
            break
        node = parent
    return node


def _place_of_value(node: ast.expr, view: ModuleView) -> UsePlace | None:
    child: ast.AST = node
    for ancestor in view.ancestors(node):
        match ancestor:
            case ast.Tuple() | ast.List() | ast.Set() | ast.IfExp() | ast.Starred() | ast.BinOp(op=ast.BitOr()):
                child = ancestor
                continue
            case ast.Call(func=ast.Name(id="hasattr")):
                return None
            case ast.Call(func=ast.Name(id=name), args=[_, tested]) if name in _TESTS and tested is child:
                return "test"
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in TAKES_ERRORS:
                return "raises"
            case ast.MatchClass():
                return "test"
            case ast.Compare() if any(_asks_type(side) for side in (ancestor.left, *ancestor.comparators)):
                return "test"
            case ast.ExceptHandler():
                return "except"
            case ast.Raise():
                return "raise"
            case _:
                return "value"
    return "value"


def _asks_type(node: ast.expr) -> bool:
    return (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type") or (
        isinstance(node, ast.Attribute) and node.attr == "__class__"
    )


def _place_of_string(use: Use, view: ModuleView) -> UsePlace | None:
    if use.name != use.target and not _DOTTED.fullmatch(use.name):
        return None  # a sentence that begins with the name
    child: ast.AST = use.node
    for ancestor in view.ancestors(use.node):
        match ancestor:
            case ast.Expr() | ast.JoinedStr() | ast.FormattedValue():
                return None
            case ast.AnnAssign() | ast.arg() if ancestor.annotation is child:
                return "annotation"
            case ast.FunctionDef() | ast.AsyncFunctionDef() if ancestor.returns is child:
                return "annotation"
            case ast.stmt() | ast.Call():
                return "string"
            case _:
                child = ancestor
    return "string"


def is_offered(use: Use, view: ModuleView, project: Project) -> bool:
    """Whether other files may import from here what an import brought.

    That is so whether or not the name is used here as well: such an import stays when its uses are rewritten, so it is
    reported beside them from the start.
    """
    binding = use.resolution.binding if use.resolution is not None else None
    return binding is not None and binding.scope.kind == "module" and project.may_be_imported(view, binding)


def is_read(view: ModuleView, binding: Binding) -> bool:
    """Whether a file uses an imported name, be it in an annotation in quotes."""
    if view.reads_of(binding):
        return True
    word = re.compile(rf"(?<![\w.]){re.escape(binding.name)}\b")
    return any(word.search(str(constant.value)) for constant, _ in view.scopes.quoted)
