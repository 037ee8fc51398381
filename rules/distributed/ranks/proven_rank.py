"""Expressions that are proved to be the rank of the process they run in, and tests that differ by it.

Only what is followed through names, attributes and small functions to `get_rank()`, an environment variable or the index
of a spawned process counts: a parameter called `rank` may be anybody's rank, and most tests with that word in them are the
same on every rank. (`own_rank` goes by names too: it withholds fixes, where a doubt is enough.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from torchlift.view import ModuleView
from torchlift.view.walk import walk

Kind = Literal["number", "text"]
"""Whether the rank is a number, or still the text of an environment variable."""

_RANK_CALLS = frozenset({"torch.distributed.get_rank", "torch.distributed.get_node_local_rank"})
# Set by torchrun, Slurm, Open MPI and MPICH for every process.
_RANK_VARIABLES = frozenset(
    "RANK LOCAL_RANK GROUP_RANK SLURM_PROCID SLURM_LOCALID OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK PMI_RANK".split()
)
_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv"})
_SPAWN = frozenset({"torch.multiprocessing.spawn"})
_DEEPEST = 6


def own_rank(view: ModuleView, node: ast.expr, depth: int = 0) -> Kind | None:
    """Whether `node` is computed from the rank of the process it runs in, as a number or as text; None if not known."""
    if depth > _DEEPEST:
        return None
    match node:
        case ast.Call(func=ast.Name(id="int"), args=[inner, *_]):
            return "number" if own_rank(view, inner, depth + 1) else None
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return "text" if own_rank(view, inner, depth + 1) else None
        case ast.Call():
            return _call(view, node, depth)
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            resolution = view.resolve(node.value)
            known = resolution is not None and resolution.name == "os.environ" and key in _RANK_VARIABLES
            return "text" if known else None
        case ast.Name():
            bindings = view.bindings_of(node, view.scope_at(node))
            if len(bindings) == 1 and isinstance(bindings[0].node, ast.arg):
                return "number" if _is_spawned_index(view, bindings[0].node) else None
            return _agreed(view, [b.value if b.kind in {"assign", "walrus"} else None for b in bindings], depth)
        case ast.Attribute():
            return _agreed(view, list(_attribute_values(view, node)), depth)
        case ast.BinOp():
            return "number" if own_rank(view, node.left, depth + 1) or own_rank(view, node.right, depth + 1) else None
        case ast.IfExp():
            return _agreed(view, [node.body, node.orelse], depth)
        case ast.NamedExpr():
            return own_rank(view, node.value, depth + 1)
        case _:
            return None


def differs_by_rank(view: ModuleView, test: ast.expr, depth: int = 0) -> bool:
    """Whether a test surely asks for the own rank, so that it can be true on one rank and false on another.

    Questions that are answered alike everywhere (`rank != -1`, `rank is None`, `rank < world_size`) are not meant.
    """
    if depth > _DEEPEST:
        return False
    match test:
        case ast.UnaryOp(op=ast.Not()):
            return differs_by_rank(view, test.operand, depth + 1)
        case ast.BoolOp():
            return any(differs_by_rank(view, value, depth + 1) for value in test.values)
        case ast.Compare():
            return _comparison_differs(view, test)
        case ast.Call(func=ast.Name() as function, args=[], keywords=[]):
            returned = _only_return(view, function)
            if returned is not None and differs_by_rank(view, returned, depth + 1):
                return True
            return own_rank(view, test) == "number"
        case ast.Name():
            binding = view.definition(test)
            value = binding.value if binding is not None and binding.kind == "assign" else None
            if isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
                return differs_by_rank(view, value, depth + 1)
            return own_rank(view, test) == "number"
        case _:
            return own_rank(view, test) == "number"


def _comparison_differs(view: ModuleView, test: ast.Compare) -> bool:
    operands = [test.left, *test.comparators]
    if any(isinstance(operator, (ast.Is, ast.IsNot)) for operator in test.ops):
        return False
    ours = [operand for operand in operands if own_rank(view, operand)]
    others = [operand for operand in operands if not any(operand is own for own in ours)]
    if not ours or not others:
        return False
    if isinstance(test.ops[0], (ast.In, ast.NotIn)) and not any(test.left is own for own in ours):
        return False
    if any(_same_answer_everywhere(view, other) for other in others):
        return False
    first, second = test.ops[0], others[0]
    zero = isinstance(second, ast.Constant) and second.value == 0
    # `rank >= 0` and `rank < 0` ask whether there is a rank at all.
    return not (zero and isinstance(first, (ast.GtE, ast.Lt)) and len(operands) == 2 and second is operands[1])


def _same_answer_everywhere(view: ModuleView, other: ast.expr) -> bool:
    """Whether comparing a rank with `other` only tells whether the program is distributed at all."""
    match other:
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.Constant(value=value):
            return value is None or value in ("", "-1")
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return all(_same_answer_everywhere(view, element) for element in elements)
        case ast.Call():
            resolution = view.resolve(other.func)
            return resolution is not None and resolution.name == "torch.distributed.get_world_size"
        case ast.Name():
            binding = view.definition(other)
            assigned = binding.value if binding is not None and binding.kind == "assign" else None
            return isinstance(assigned, ast.Call) and _same_answer_everywhere(view, assigned)
        case _:
            return False


def _call(view: ModuleView, call: ast.Call, depth: int) -> Kind | None:
    resolution = view.resolve(call.func)
    if resolution is not None:
        if resolution.name in _RANK_CALLS:
            return "number"
        if resolution.name in _ENVIRONMENT and call.args:
            key = call.args[0]
            return "text" if isinstance(key, ast.Constant) and key.value in _RANK_VARIABLES else None
    if isinstance(call.func, ast.Name) and not call.args and not call.keywords:
        function = _function(view, call.func)
        if function is not None:
            return _agreed(view, [node.value for node in _returns(function)], depth)
    return None


def _agreed(view: ModuleView, values: list[ast.expr | None], depth: int) -> Kind | None:
    """The kind of the values that are the own rank, if there is one and all others are constants."""
    kinds: set[Kind] = set()
    for value in values:
        kind = own_rank(view, value, depth + 1) if value is not None else None
        if kind is not None:
            kinds.add(kind)
        elif not isinstance(value, (ast.Constant, ast.UnaryOp)):
            return None
    return kinds.pop() if len(kinds) == 1 else None


def _is_spawned_index(view: ModuleView, parameter: ast.arg) -> bool:
    """Whether a parameter is the process index that `torch.multiprocessing.spawn` passes to a function of this file."""
    arguments = view.parent(parameter)
    function = view.parent(arguments) if arguments is not None else None
    if not isinstance(function, ast.FunctionDef) or function.args.args[:1] != [parameter]:
        return False
    calls = [use.call for use in view.uses(_SPAWN) if use.call is not None]
    workers = [call.args[0] for call in calls if call.args]
    return any(isinstance(worker, ast.Name) and _function(view, worker) is function for worker in workers)


def _function(view: ModuleView, name: ast.Name) -> ast.FunctionDef | None:
    binding = view.definition(name)
    return binding.node if binding is not None and isinstance(binding.node, ast.FunctionDef) else None


def _returns(function: ast.FunctionDef) -> Iterator[ast.Return]:
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))


def _only_return(view: ModuleView, name: ast.Name) -> ast.expr | None:
    function = _function(view, name)
    returns = list(_returns(function)) if function is not None else []
    return returns[0].value if len(returns) == 1 else None


def _attribute_values(view: ModuleView, node: ast.Attribute) -> Iterator[ast.expr | None]:
    """What the file assigns to the same dotted name; for `self`, in the same class."""
    text = ast.unparse(node)
    area: ast.AST = view.tree
    if text.startswith("self."):
        area = next((a for a in view.ancestors(node) if isinstance(a, ast.ClassDef)), view.tree)
    for store in walk(area):
        if not isinstance(store, ast.Attribute) or isinstance(store.ctx, ast.Load) or ast.unparse(store) != text:
            continue
        statement = view.statement(store)
        simple = isinstance(statement, (ast.Assign, ast.AnnAssign)) and view.parent(store) is statement
        yield statement.value if simple and isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
