"""What a condition that asks a compiler flag comes to: in eager mode, under export, while tracing, in TorchScript.

The flags, measured on torch 2.13.0 (`tests/rules/torchscript/test_what_hints_mean.py`) and 2.15.0: `is_scripting()` and `is_tracing()` are
False under `torch.export`, where `is_compiling()` and `is_exporting()` are True; compiled TorchScript sees
`is_compiling()` as False.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.values.literals import is_none
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

Flag = Callable[[ast.expr], "bool | None"]
"""The value of an expression in some world; None where it is no flag, or not known."""

_SCRIPTING = frozenset({"is_scripting"})
_TRACING = frozenset({"is_tracing", "_is_tracing", "_get_tracing_state", "is_in_onnx_export", "is_torch_jit_tracing"})
_COMPILING = frozenset({"is_compiling", "_is_compiling", "is_exporting"})
# True in an export with `strict=True` only.
_DYNAMO = frozenset({"is_dynamo_compiling", "is_torchdynamo_compiling"})

_STATE = "torch._C._get_tracing_state"


def absent(view: ModuleView, names: frozenset[str]) -> Flag:
    """The functions of these qualified names as they answer where their compiler does not run: False, and for the tracer's
    state None, which is as good as False for a condition."""

    def value(node: ast.expr) -> bool | None:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and is_none(node.comparators[0]):
            if _asked(view, node.left) == _STATE in names and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                return isinstance(node.ops[0], ast.Is)
            return None
        return False if _asked(view, node) in names else None

    return value


def _asked(view: ModuleView, node: ast.expr) -> str | None:
    """Qualified name of the function that a call without arguments surely calls."""
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        resolution = view.resolve(node.func)
        if resolution is not None and resolution.certain:
            return resolution.name
    return None


def world(*, scripting: bool = False, tracing: bool = False, compiling: bool = False) -> Flag:
    """The flags by the last part of their names, whoever wraps them; good for descriptions and for nothing else."""
    known: dict[str, bool | None] = {
        **dict.fromkeys(_SCRIPTING, scripting),
        **dict.fromkeys(_TRACING, tracing),
        **dict.fromkeys(_COMPILING, compiling),
        **dict.fromkeys(_DYNAMO, None if compiling else False),
    }

    def value(node: ast.expr) -> bool | None:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and is_none(node.comparators[0]):
            inner = value(node.left)
            if inner is not None and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                return inner if isinstance(node.ops[0], ast.IsNot) else not inner
            return None
        if isinstance(node, ast.Call):
            return known.get(last_name(node.func))
        return False if last_name(node) == "TYPE_CHECKING" else None

    return value


def asks_export(test: ast.expr) -> bool:
    """Whether a condition already asks whether it is compiled or exported."""
    return any(isinstance(node, ast.Call) and last_name(node.func) in _COMPILING for node in walk(test))


def condition_of(view: ModuleView, node: ast.expr) -> tuple[ast.expr, ast.AST | None]:
    """The whole condition that `node` is a part of, through `not`, `and` and `or`, and what it is the condition of."""
    parent = view.parent(node)
    if isinstance(parent, ast.Compare) and parent.left is node and all(map(is_none, parent.comparators)):
        node, parent = parent, view.parent(parent)
    while isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)):
        node, parent = parent, view.parent(parent)
    return node, parent


def is_truth(owner: ast.AST | None, test: ast.expr) -> bool:
    """Whether only the truth of `test` matters to what it is the condition of, and not its value."""
    return isinstance(owner, (ast.If, ast.While, ast.IfExp, ast.Assert)) and owner.test is test


@dataclass(frozen=True)
class Settled:
    """A condition with its flags filled in.

    Attributes:
        constant: its truth; None if other parts decide.
        drops: operands of `and` and `or` that no longer matter; empty if `constant` is known.
        quiet: whether nothing that would not be evaluated any more has an effect.
        same_value: whether the condition keeps its value and not only its truth.
    """

    constant: bool | None
    drops: tuple[ast.expr, ...] = ()
    quiet: bool = True
    same_value: bool = True


def settle(test: ast.expr, flag: Flag) -> Settled:
    """Fill the flags of a world into a condition."""
    known = flag(test)
    if known is not None:
        return Settled(known)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = settle(test.operand, flag)
        constant = None if inner.constant is None else not inner.constant
        return Settled(constant, inner.drops, inner.quiet)
    if not isinstance(test, ast.BoolOp):
        return Settled(None)
    absorbing = isinstance(test.op, ast.Or)
    parts = [settle(value, flag) for value in test.values]
    quiet = all(part.quiet for part in parts)
    for index, part in enumerate(parts):
        if part.constant is absorbing:
            before = [value for value, other in zip(test.values[:index], parts, strict=False) if other.constant is None]
            same_value = all(other.same_value for other in parts[: index + 1]) and all(map(_is_bool, before))
            return Settled(absorbing, quiet=quiet and all(map(_has_no_effect, before)), same_value=same_value)
    if all(part.constant is not None for part in parts):
        return Settled(not absorbing, quiet=quiet)
    neutral = tuple(value for value, part in zip(test.values, parts, strict=True) if part.constant is not None)
    drops = (*neutral, *(drop for part in parts for drop in part.drops))
    same_value = all(part.same_value for part in parts) and (
        parts[-1].constant is None
        or _is_bool([value for value, part in zip(test.values, parts, strict=True) if part.constant is None][-1])
    )
    return Settled(None, drops, quiet, same_value)


def _has_no_effect(node: ast.expr) -> bool:
    """Whether not evaluating an expression changes nothing: names, attributes and constants, compared by identity."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _has_no_effect(node.operand)
    if isinstance(node, ast.BoolOp):
        return all(map(_has_no_effect, node.values))
    if isinstance(node, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops) and all(
            map(_has_no_effect, (node.left, *node.comparators))
        )
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, (ast.Name, ast.Constant))


def _is_bool(node: ast.expr) -> bool:
    """Whether an expression is surely True or False."""
    match node:
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=ops):
            return all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in ops)
        case ast.Constant(value=bool()):
            return True
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass" | "hasattr" | "callable")):
            return True
        case _:
            return False
