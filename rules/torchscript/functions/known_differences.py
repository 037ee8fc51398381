"""What was measured to differ between TorchScript and Python, told by the shape of the code.

The measurements: `scripted_operations` and its tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlift.rules.torchscript.facts.value_kinds import is_dtype
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_LARGE = 2**31
_FORMATS = frozenset(
    f"torch.{name}"
    for name in "strided sparse_coo contiguous_format channels_last channels_last_3d preserve_format".split()
)
_NUMBERED = frozenset({"torch.dtype", "torch.layout", "torch.memory_format"})
_HANDS_ON = (ast.Return, ast.Tuple, ast.List, ast.Dict, ast.Assign, ast.AnnAssign, ast.IfExp, ast.NamedExpr)
_OF_BOTH = frozenset("len zip enumerate list tuple reversed".split())
_DRAWS = frozenset(
    """rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal poisson binomial dropout
    dropout1d dropout2d dropout3d alpha_dropout feature_dropout feature_alpha_dropout gumbel_softmax rrelu uniform_ normal_
    bernoulli_ random_ exponential_ log_normal_ cauchy_ geometric_""".split()
)


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


def is_bound_again(view: ModuleView, node: ast.Name, function: ast.AST) -> bool:
    """Whether a name from around the function may be bound more than once."""
    owner = view.scope_at(node).lookup(node.id)
    if owner is None or len(owner.bindings[node.id]) < 2:
        return False
    if all(isinstance(bound.statement, ast.Import) and bound.kind == "import" for bound in owner.bindings[node.id]):
        return False  # `import torch` and `import torch.fft` bind one package
    return owner.kind == "module" or owner.node is not function


def is_condition(view: ModuleView, node: ast.expr) -> bool:
    """Whether only the truth of an expression is asked for."""
    child: ast.AST = node
    parent = view.parent(node)
    while isinstance(parent, (ast.BoolOp, ast.UnaryOp)):
        child, parent = parent, view.parent(parent)
    return isinstance(child, ast.UnaryOp) or getattr(parent, "test", None) is child


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


def list_uses(view: ModuleView, function: ast.AST, lists: Iterable[ast.expr]) -> Iterator[str]:
    """Clauses about what is done with values that are a list in TorchScript and a tuple in Python, where only one of them serves."""
    for made in lists:
        statement = view.parent(made)
        targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is made else []
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        named = [child for child in walk(function) if isinstance(child, ast.Name) and child.id in names]
        for use in [made, *named]:
            if not _serves_both(view, use):
                line = getattr(use, "lineno", 0)
                yield f"what `{ast.unparse(made)}` gives is a list in TorchScript and a tuple in Python, which line {line} may notice"
                break


def _serves_both(view: ModuleView, use: ast.expr) -> bool:
    """Whether a list and a tuple do the same in one place."""
    parent = view.parent(use)
    match parent:
        case ast.Subscript(ctx=ast.Load(), slice=index):
            return not isinstance(index, ast.Slice)
        case ast.Starred() | ast.For() | ast.comprehension() | ast.Return() | ast.Expr():
            return True
        case ast.Assign(targets=targets):
            kept = (ast.Tuple, ast.List) if isinstance(use, ast.Name) else (ast.Tuple, ast.List, ast.Name)
            return use in targets or all(isinstance(target, kept) for target in targets)
        case ast.Tuple():
            return isinstance(parent.ctx, ast.Store) or isinstance(view.parent(parent), ast.Return)
        case ast.Call(func=func):
            known = view.certain_name(func).startswith("torch.") or getattr(func, "id", "") in _OF_BOTH
            return known and use is not func
    return False


def of_whole(view: ModuleView, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Clauses about what a function as a whole does otherwise."""
    if (line := shows_number(view, node)) is not None:
        yield f"line {line} of `{node.name}` shows a dtype, a layout or a memory format, which is a number in TorchScript"
    if (line := _unneeded_draw(node)) is not None:
        yield (
            f"line {line} of `{node.name}` draws random numbers that nothing needs, and TorchScript does not: later ones are "
            "others then"
        )
    if sum(isinstance(child, ast.Attribute) and child.attr == "mm" for child in walk(node)) > 2:
        yield f"`{node.name}` has several `mm`, which TorchScript may run as one that rounds otherwise"


def _unneeded_draw(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int | None:
    """Line on which random numbers are drawn that nothing may need: TorchScript does not draw them, and later ones are others then."""
    statements = [child for child in walk(node) if isinstance(child, ast.stmt) and child is not node]
    given = {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    bound = {one: names for one in statements if (names := _bound_only(one)) and not names & given}
    needed = {name for one in statements if one not in bound for name in _loaded(one)}
    before = -1
    while before != len(needed):
        before = len(needed)
        needed |= {name for one, names in bound.items() if names & needed for name in _loaded(one)}
    for one in statements:
        value = getattr(one, "value", None)
        if not isinstance(value, ast.expr) or not draws(value):
            continue
        if one in bound and (not bound[one] <= needed or _is_replaced(one, bound, statements)):
            return one.lineno
        if isinstance(one, ast.Expr) and isinstance(value, ast.Call) and _only_gives(value):
            return one.lineno
        if any(_takes_part(part) for part in walk(value)) or _is_display(value):
            return one.lineno
    return None


def _takes_part(node: ast.AST) -> bool:
    """Whether one of several values is taken, and random numbers are drawn for each."""
    return isinstance(node, ast.Subscript) and _is_display(node.value)


def _is_display(node: ast.expr) -> bool:
    return isinstance(node, (ast.Tuple, ast.List)) and any(map(_draws_itself, node.elts))


def _draws_itself(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return getattr(called, "attr", getattr(called, "id", "")) in _DRAWS


def _only_gives(call: ast.Call) -> bool:
    """Whether a call, or the last of a chain of methods, draws and changes nothing that has a name."""
    if any(keyword.arg in {"out", "inplace"} for keyword in call.keywords):
        return False
    inner: ast.expr = call
    while isinstance(inner, ast.Call) and not _draws_itself(inner):
        inner = inner.func.value if isinstance(inner.func, ast.Attribute) else inner.func
    fresh = not isinstance(inner, ast.Call) or not _changed_name(inner)
    return isinstance(inner, ast.Call) and fresh


def _changed_name(call: ast.Call) -> bool:
    """Whether a method changes what has a name."""
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr.endswith("_") and not isinstance(func.value, ast.Call)


def _bound_only(statement: ast.stmt) -> frozenset[str]:
    """Names that a statement binds, or adds to; empty where it does something else."""
    value = getattr(statement, "value", None)
    match statement:
        case ast.Assign(targets=given):
            targets = given
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            targets = [target]
        case _:
            return frozenset()
    if not isinstance(value, ast.expr) or any(
        _changed_name(child) for child in walk(value) if isinstance(child, ast.Call)
    ):
        return frozenset()
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return frozenset(names) if len(names) == len(parts) else frozenset()


def _loaded(statement: ast.stmt) -> frozenset[str]:
    """Names that a statement reads itself, and not in the statements below it; what it changes in place is read."""
    inner = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]
    names = (child for part in inner for child in walk(part) if isinstance(child, ast.Name))
    return frozenset(
        name.id for name in names if isinstance(name.ctx, ast.Load) or isinstance(statement, ast.AugAssign)
    )


def _is_replaced(one: ast.stmt, bound: dict[ast.stmt, frozenset[str]], statements: list[ast.stmt]) -> bool:
    """Whether all that a statement binds is bound again beside it before anything reads it."""
    left = set(bound[one])
    for later in statements[statements.index(one) + 1 :]:
        if left & _loaded(later) or later.col_offset != one.col_offset:
            return False
        left -= bound.get(later, frozenset())
        if not left:
            return True
    return False


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
            case ast.Return(value=ast.expr() as value) if _gives_number(view, value):
                return child.lineno
            case ast.Name(id=name, ctx=ast.Load()) if name in given:
                parent = view.parent(child)
                asked = isinstance(parent, ast.Compare) and all(
                    isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops
                )
                if not asked and not isinstance(parent, (ast.keyword, ast.Call)):
                    return child.lineno
    return None


def _gives_number(view: ModuleView, node: ast.expr) -> bool:
    """Whether a dtype, a layout or a memory format is, or is part of, a value."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return any(_gives_number(view, part) for part in parts)
        case ast.IfExp(body=body, orelse=orelse):
            return _gives_number(view, body) or _gives_number(view, orelse)
        case ast.Name():
            bound = view.definition(node)
            value = bound.value if bound is not None and bound.kind == "assign" else None
            return value is not None and not isinstance(value, ast.Name) and _gives_number(view, value)
        case ast.Attribute(attr=attr):
            name = view.certain_name(node)
            return (attr in {"dtype", "layout"} and not name) or is_dtype(name) or name in _FORMATS
    return False
