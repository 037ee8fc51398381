"""Control flow that TorchScript kept and `torch.export` fixes: loops, and branches that sizes or values decide.

Source: section 4 of the measurements for this project (torch 2.13.0 and 2.15.0): a loop over a size is unrolled for the
example's size, a branch on a size becomes a guard, and a branch on the value of a tensor stops a non-strict export.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.torchscript.facts.value_kinds import plain_parameters
from torchlift.view.walk import walk

_SIZES = frozenset({"shape", "size", "numel", "nelement", "sym_size"})
_STATIC_ATTRIBUTES = frozenset(
    {"ndim", "dtype", "device", "layout", "is_cuda", "requires_grad", "training", "is_sparse"}
)
_STATIC_CALLS = frozenset(
    """dim ndimension is_floating_point is_complex is_tensor isinstance issubclass hasattr callable is_scripting is_tracing
    is_grad_enabled is_autocast_enabled""".split()
)
_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class DynamicPart:
    """One place.

    Attributes:
        line: where.
        kind: `loop`, `size` for a branch that sizes decide, `value` for one that something else decides.
    """

    line: int
    kind: Literal["loop", "size", "value"]

    def sentence(self) -> str:
        """What export makes of it."""
        if self.kind == "loop":
            return (
                f"where `torch.export` gets to the loop on line {self.line}, it unrolls it, as often as the example inputs have it run, or stops "
                "at it where values of a tensor say how long it is; TorchScript keeps most loops"
            )
        if self.kind == "size":
            return (
                f"where `torch.export` gets to the branch on line {self.line}, it keeps the side that the example inputs take and refuses "
                "sizes of the other one; scripting kept both"
            )
        return (
            f"where `torch.export` gets to the branch on line {self.line}, it stops there if a value of a tensor decides; scripting kept "
            "both sides, as `torch.cond` does"
        )


def dynamic_parts(function: _FunctionNode) -> list[DynamicPart]:
    """Control flow in a function that is not settled by types, ranks and plain Python values, in source order."""
    static = _scalars(function)
    found: list[DynamicPart] = []
    for node in _scripted(function.body):
        match node:
            case ast.For() | ast.AsyncFor():
                if not _is_fixed(node.iter):
                    found.append(DynamicPart(node.lineno, "loop"))
            case ast.comprehension():
                if not _is_fixed(node.iter):
                    found.append(DynamicPart(node.iter.lineno, "loop"))
            case ast.While():
                found.append(DynamicPart(node.lineno, "loop" if _asks_size(node.test) else "value"))
            case ast.If() | ast.IfExp() | ast.Assert():
                if not _is_static(node.test, static):
                    found.append(DynamicPart(node.lineno, "size" if _asks_size(node.test) else "value"))
            case _:
                pass
    return sorted(found, key=lambda part: part.line)


def _scripted(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """Nodes of a block without what a scripted run never gets to, by the tests of `is_scripting()`."""
    for statement in statements:
        held = _is_scripting(statement.test) if isinstance(statement, ast.If) else None
        if isinstance(statement, ast.If) and held is not None:
            taken = statement.body if held else statement.orelse
            yield from _scripted(taken)
            if taken and isinstance(taken[-1], (ast.Return, ast.Raise)):
                return
            continue
        yield from walk(statement)


def _is_scripting(test: ast.expr) -> bool | None:
    """What a scripted run answers to `is_scripting()` or `not is_scripting()`; None for other tests."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            held = _is_scripting(operand)
            return None if held is None else not held
        case ast.Call(func=ast.Attribute(attr="is_scripting") | ast.Name(id="is_scripting")):
            return True
    return None


def _scalars(function: _FunctionNode) -> frozenset[str]:
    """Parameters that are plain Python values and stay what they are."""
    stored = {node.id for node in walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return plain_parameters(function) - stored


def _is_fixed(iterated: ast.expr) -> bool:
    """Whether the number of rounds is written in the code."""
    if isinstance(iterated, (ast.Tuple, ast.List, ast.Set)):
        return not any(isinstance(element, ast.Starred) for element in iterated.elts)
    return (
        isinstance(iterated, ast.Call)
        and isinstance(iterated.func, ast.Name)
        and iterated.func.id == "range"
        and all(isinstance(argument, ast.Constant) for argument in iterated.args)
    )


def _asks_size(node: ast.expr) -> bool:
    return any(
        (isinstance(child, ast.Attribute) and child.attr in _SIZES)
        or (isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "len")
        for child in walk(node)
    )


def _is_static(test: ast.expr, scalars: frozenset[str]) -> bool:
    """Whether types, ranks and plain Python values decide a condition: the same way for every input of one kind."""
    match test:
        case ast.BoolOp(values=values):
            return all(_is_static(value, scalars) for value in values)
        case ast.UnaryOp(operand=operand):
            return _is_static(operand, scalars)
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in scalars
        case ast.Attribute(attr=name):
            return name in _STATIC_ATTRIBUTES
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(attr="shape")]):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _STATIC_CALLS
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            if all(isinstance(op, (ast.Is, ast.IsNot)) for op in ops):
                return True
            sides = [left, *comparators]
            return all(_is_static(side, scalars) or _is_plain(side) for side in sides) and any(
                _is_static(side, scalars) for side in sides
            )
        case _:
            return False


def _is_plain(node: ast.expr) -> bool:
    """A constant, several of them, or a name such as `torch.float32` that no input changes."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(_is_plain, node.elts))
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(node, ast.Constant) or (
        isinstance(node, ast.Attribute) and isinstance(root, ast.Name) and root.id == "torch"
    )
