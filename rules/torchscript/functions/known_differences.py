"""What was measured to differ between TorchScript and Python, told by the shape of the code.

The measurements: `scripted_operations` and its tests.
"""

from __future__ import annotations

import ast

from torchlift.view import ModuleView
from torchlift.view.walk import walk

_LARGE = 2**31
_NUMBERED = frozenset({"torch.dtype", "torch.layout", "torch.memory_format"})
_HANDS_ON = (ast.Return, ast.Tuple, ast.List, ast.Dict, ast.Assign, ast.AnnAssign, ast.IfExp, ast.NamedExpr)
_DRAWS = frozenset({"rand_like", "randn_like", "dropout"})


def is_rebound(view: ModuleView, node: ast.AST) -> bool:
    """Whether the loop around a change in place also binds the changed tensor's name."""
    target: ast.AST = node.func if isinstance(node, ast.Call) else getattr(node, "target", node)
    while isinstance(target, (ast.Attribute, ast.Subscript, ast.Call)):
        target = target.func if isinstance(target, ast.Call) else target.value
    if not isinstance(target, ast.Name):
        return True
    return any(
        isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store) and child.id == target.id
        for loop in view.ancestors(node)
        if isinstance(loop, (ast.For, ast.While))
        for child in walk(loop)
        if not (isinstance(parent := view.parent(child), ast.AugAssign) and parent.target is child)
    )


def has_parameter(view: ModuleView, operation: ast.AST) -> bool:
    """Whether an operation has a parameter of the function as it came in."""
    for operand in ast.iter_child_nodes(operation):
        if isinstance(operand, ast.Name):
            owner = view.scope_at(operand).lookup(operand.id)
            bound = owner.bindings[operand.id] if owner is not None else ()
            if len(bound) == 1 and isinstance(bound[0].node, ast.arg):
                return True
    return False


def leaves(view: ModuleView, made: ast.expr, function: ast.AST) -> bool:
    """Whether `function` gives out a tensor that it makes and does not change, as far as one name of it tells."""
    made = _view_of(view, made)
    statement = view.parent(made)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return isinstance(statement, _HANDS_ON)
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if not all(isinstance(target, ast.Name) for target in targets):
        return True
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    uses = [child for child in walk(function) if isinstance(child, ast.Name) and child.id in names]
    if sum(isinstance(use.ctx, ast.Store) for use in uses if not _is_changed(view, use)) > len(targets):
        return True  # which of its values a change is of was not followed
    if any(_is_changed(view, use) for use in uses):
        return False
    return any(isinstance(view.parent(_view_of(view, use)), _HANDS_ON) for use in uses)


def _is_changed(view: ModuleView, use: ast.Name) -> bool:
    """Whether the tensor of a name is changed in place where the name stands."""
    parent = view.parent(use)
    if isinstance(parent, ast.Subscript):
        return not isinstance(parent.ctx, ast.Load) or isinstance(view.parent(parent), ast.AugAssign)
    if isinstance(parent, ast.AugAssign):
        return parent.target is use
    return isinstance(parent, ast.Attribute) and parent.attr.endswith("_")


def _view_of(view: ModuleView, node: ast.expr) -> ast.expr:
    """What attributes, items and methods make of a value, which may share its memory."""
    parent = view.parent(node)
    while isinstance(parent, (ast.Attribute, ast.Subscript, ast.Call)) and node in (
        getattr(parent, "value", None),
        getattr(parent, "func", None),
    ):
        node, parent = parent, view.parent(parent)
    return node


def may_wrap(node: ast.AST, *, in_loop: bool) -> bool:
    """Whether arithmetic of ints is of the kind that outgrows 64 bits in practice: hashes, products in a loop."""
    large = any(isinstance(c, ast.Constant) and isinstance(c.value, int) and c.value >= _LARGE for c in walk(node))
    return large or (in_loop and isinstance(getattr(node, "op", None), (ast.Mult, ast.Pow, ast.LShift)))


def changes(node: ast.expr) -> bool:
    """Whether a tensor is changed in place in an expression."""
    return any(
        isinstance(child, ast.Call)
        and isinstance(child.func, ast.Attribute)
        and child.func.attr.endswith("_")
        and not child.func.attr.endswith("__")
        for child in walk(node)
    )


def draws(node: ast.expr) -> bool:
    """Whether random numbers are drawn in an expression."""
    return any(
        (isinstance(child, ast.Attribute) and child.attr in _DRAWS)
        or (isinstance(child, ast.Name) and child.id in _DRAWS)
        for child in walk(node)
    )


def shows_number(view: ModuleView, node: ast.FunctionDef | ast.AsyncFunctionDef) -> int | None:
    """Line on which a dtype, a layout or a memory format does more than to be passed on; None if there is none.

    TorchScript takes and gives numbers for them: a scripted `def f(d: torch.dtype): return d` returns 6 for torch.float32.
    """
    given = {
        argument.arg
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if argument.annotation is not None
        and any(
            view.certain_name(part) in _NUMBERED
            for part in walk(argument.annotation)
            if isinstance(part, (ast.Attribute, ast.Name))
        )
    }
    for child in (part for statement in node.body for part in walk(statement)):
        match child:
            case ast.Return(value=ast.Attribute(attr="dtype" | "layout")):
                return child.lineno
            case ast.Name(id=name, ctx=ast.Load()) if name in given:
                parent = view.parent(child)
                asked = isinstance(parent, ast.Compare) and all(
                    isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops
                )
                if not asked and not isinstance(parent, (ast.keyword, ast.Call)):
                    return child.lineno
    return None
