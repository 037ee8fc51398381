"""Statements that do nothing any more once what they were about has gone: a mode set twice, a file that nothing opens."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DeleteStatement, KeepBranch, ReplaceExpression, Rewrite, Template
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_FILES = frozenset({"tempfile.TemporaryDirectory", "tempfile.NamedTemporaryFile", "tempfile.TemporaryFile"})
_MODES = frozenset({"eval", "train"})


def idle(view: ModuleView, node: ast.AST) -> Iterator[tuple[str, tuple[Rewrite, ...]]]:
    """What `node` is, if it does nothing: a key that tells it from others, and the rewrites that take it out."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=mode) as method, args=[], keywords=[])) if mode in _MODES:
            if _is_set_before(view, node, method):
                yield f"again {_place(view, node)} {ast.dump(node)}", (DeleteStatement(view.span(node)),)
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self")) as target], value=ast.Attribute() as value):
            if ast.unparse(target) == ast.unparse(value) and not _is_computed(view, target):
                yield f"itself {_place(view, node)} {ast.dump(node)}", (DeleteStatement(view.span(node)),)
        case ast.IfExp(test=ast.Name() | ast.Attribute(), body=body, orelse=orelse) if ast.dump(body) == ast.dump(
            orelse
        ):
            kept = Template("$kept", (("kept", view.span(body)),))
            yield f"alike {ast.dump(node)}", (ReplaceExpression(view.span(node), kept),)
        case ast.Assert(test=test) if _is_asked_before(view, node, test):
            yield f"asked {_place(view, node)} {ast.dump(node)}", (DeleteStatement(view.span(node)),)
        case ast.With(items=items) if all(_is_unread_file(view, item) for item in items):
            names = ",".join(ast.unparse(item) for item in items)
            yield f"file {_place(view, node)} {names}", (KeepBranch(view.span(node), "body"),)


def _is_unread_file(view: ModuleView, item: ast.withitem) -> bool:
    """Whether what a `with` enters is a temporary file or folder whose name nothing reads."""
    if not isinstance(item.context_expr, ast.Call) or not isinstance(item.optional_vars, ast.Name):
        return False
    binding = view.bound_by(item.optional_vars)
    named = view.certain_name(item.context_expr.func) in _FILES
    return named and binding is not None and not view.reads_of(binding)


def _is_asked_before(view: ModuleView, node: ast.Assert, test: ast.expr) -> bool:
    """Whether an assertion is the first statement under a condition that says the same of names: a property may answer twice."""
    around = view.parent(node)
    if not isinstance(around, ast.If) or around.body[0] is not node or len(around.body) == 1:
        return False
    answering = (ast.Call, ast.Attribute, ast.Subscript)
    return ast.dump(around.test) == ast.dump(test) and not any(isinstance(part, answering) for part in walk(test))


def _is_set_before(view: ModuleView, node: ast.Expr, method: ast.Attribute) -> bool:
    """Whether the statement right before sets the same mode of the same thing."""
    block = view.block(node)
    index = block.index(node)
    before = block[index - 1] if index else None
    match before:
        case ast.Expr(value=value):
            return ast.dump(value) == ast.dump(node.value)
        case ast.Assign(targets=[target], value=ast.Call(func=ast.Attribute(attr=mode), args=[], keywords=[])):
            return mode == method.attr and ast.unparse(target) == ast.unparse(method.value)
    return False


def _is_computed(view: ModuleView, target: ast.Attribute) -> bool:
    """Whether the class around defines what an attribute of `self` gives or takes."""
    owner = view.class_of(target)
    if owner is None or owner.keywords:
        return True
    names = {getattr(item, "name", "") for item in owner.body}
    return target.attr in names or "__setattr__" in names


def _place(view: ModuleView, node: ast.AST) -> str:
    function = view.function_of(node)
    owner = view.class_of(node)
    return f"{owner.name if owner is not None else ''}.{function.name if function is not None else ''}"
