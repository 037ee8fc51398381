"""Between which bounds a number in a function lies: where it fits into 64 bits, where it may be zero.

TorchScript computes ints in 64 bits and wraps around, cuts a large float to 64 bits, and its division, `math.log`,
`math.sqrt`, `math.exp` and roots give infinity or nan where Python raises or goes on with a complex number (measured on
torch 2.13.0, 2026-11-21). A number without known bounds has no range here.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Mapping

from torchlift.lazy_dataclass import dataclass

_LIMIT = 2**63 - 1
_COUNT = 2**40
_BOUNDS = {"size": 2**31, "dim": 64, "numel": _COUNT, "stride": _COUNT}
_CONSTANTS = {"math.pi": math.pi, "math.e": math.e}
_EXACT = 2**53


@dataclass(frozen=True)
class Range:
    """Bounds of a number, both inclusive."""

    low: float
    high: float

    def has_zero(self) -> bool:
        """Whether the number may be zero."""
        return self.low <= 0 <= self.high

    def fits(self) -> bool:
        """Whether the number surely fits into 64 bits."""
        return self.low >= -_LIMIT and self.high <= _LIMIT

    def joined(self, other: Range) -> Range:
        """The range of a number that is one or the other."""
        return Range(min(self.low, other.low), max(self.high, other.high))


COUNT = Range(0, _COUNT)
SIZE = Range(0, _BOUNDS["size"])


def range_of(node: ast.expr, names: Mapping[str, Range], resolve: Callable[[ast.expr], str]) -> Range | None:
    """Bounds of an int or a float, if they are known.

    Args:
        node: an expression that is known to be an int or a float.
        names: bounds of variables.
        resolve: the full name of a function or constant; empty if it has none.
    """

    def read(part: ast.expr) -> Range | None:
        return range_of(part, names, resolve)

    match node:
        case ast.Constant(value=int() | float() as value) if math.isfinite(value):
            return Range(value, value)
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Attribute(attr="ndim"):
            return Range(0, _BOUNDS["dim"])
        case ast.Attribute() if (constant := _CONSTANTS.get(resolve(node))) is not None:
            return Range(constant, constant)
        case ast.Subscript():
            return SIZE
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = read(operand)
            return Range(-inner.high, -inner.low) if inner is not None else None
        case ast.BinOp():
            left, right = read(node.left), read(node.right)
            return combined(node.op, left, right) if left is not None and right is not None else None
        case ast.IfExp():
            left, right = read(node.body), read(node.orelse)
            return left.joined(right) if left is not None and right is not None else None
        case ast.Call():
            return _call(node, read, resolve)
    return None


def asserted(test: ast.expr) -> tuple[str, Range] | None:
    """The name of a number that an assertion holds above zero, or another constant, and its bounds behind that."""
    match test:
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Gt() | ast.GtE() as op], comparators=[ast.Constant(value=low)]
        ):
            if isinstance(low, (int, float)) and low >= 0:
                return name, Range(math.nextafter(low, math.inf) if isinstance(op, ast.Gt) else low, sys.float_info.max)
    return None


def combined(op: ast.operator, left: Range, right: Range) -> Range | None:
    """Bounds of the result of `op` between two numbers, if it has a value for all of them."""
    if isinstance(op, (ast.Div, ast.FloorDiv, ast.Mod)) and right.has_zero():
        return None
    match op:
        case ast.Add():
            return _checked(left.low + right.low, left.high + right.high)
        case ast.Sub():
            return _checked(left.low - right.high, left.high - right.low)
        case ast.Mult():
            return _checked(*(a * b for a in (left.low, left.high) for b in (right.low, right.high)))
        case ast.Div():
            return _checked(*(a / b for a in (left.low, left.high) for b in (right.low, right.high)))
        case ast.FloorDiv():
            return _checked(*(a // b for a in (left.low, left.high) for b in (right.low, right.high)))
        case ast.Mod():
            return _checked(min(right.low, 0), max(right.high, 0))
        case ast.Pow():
            return _power(left, right)
    return None


def _power(base: Range, exponent: Range) -> Range | None:
    number = exponent.low
    # A negative base gives a complex number or an error for most exponents, a zero an error for the negative ones.
    if number != exponent.high or base.low < 0 or (base.low == 0 and number < 0):
        return None
    try:
        return _checked(float(base.low) ** number, float(base.high) ** number)
    except OverflowError:
        return None


def _call(node: ast.Call, read: Callable[[ast.expr], Range | None], resolve: Callable[[ast.expr], str]) -> Range | None:
    function = node.func
    name = resolve(function)
    parts = [read(argument) for argument in node.args]
    known = [part for part in parts if part is not None]
    if name.startswith("math.") and len(known) == len(parts) == 1:
        return applied(name, known[0])
    if isinstance(function, ast.Attribute) and not name:
        high = _BOUNDS.get(function.attr)
        return Range(0, high) if high is not None else None
    if not isinstance(function, ast.Name):
        return None
    if function.id == "len":
        return COUNT
    if function.id in {"min", "max"} and len(known) == len(parts) == 2:
        pick: Callable[[float, float], float] = min if function.id == "min" else max
        return Range(pick(known[0].low, known[1].low), pick(known[0].high, known[1].high))
    if len(known) == len(parts) == 1:
        only = known[0]
        if function.id == "float":
            return only
        if function.id == "int":
            return _checked(math.trunc(only.low), math.trunc(only.high))
        if function.id == "abs":
            return Range(
                0 if only.has_zero() else min(abs(only.low), abs(only.high)), max(abs(only.low), abs(only.high))
            )
    return None


def applied(name: str, argument: Range) -> Range | None:
    """Bounds of `name`, a function of `math`, if it has a value for every argument in the range."""
    match name:
        case "math.sqrt" if argument.low >= 0:
            return Range(math.sqrt(argument.low), math.sqrt(argument.high))
        case "math.log" if argument.low > 0:
            return Range(math.log(argument.low), math.log(argument.high))
        case "math.exp" if argument.high < 700:
            return Range(math.exp(argument.low), math.exp(argument.high))
        case "math.ceil" | "math.floor" if argument.low > -_EXACT and argument.high < _EXACT:
            return Range(math.floor(argument.low), math.ceil(argument.high))
    return None


def steps(arguments: list[Range | None]) -> Range | None:
    """Bounds of the counter of a loop over `range`."""
    if len(arguments) == 1:
        # More steps than this are never taken, whatever the number says.
        return Range(0, max(0.0, min(arguments[0].high, _COUNT))) if arguments[0] is not None else COUNT
    if arguments and all(part is not None for part in arguments[:2]):
        ends = [part for part in arguments[:2] if part is not None]
        return ends[0].joined(ends[1])
    return None


def _checked(*corners: float) -> Range | None:
    if any(isinstance(corner, float) and not math.isfinite(corner) for corner in corners):
        return None
    return Range(min(corners), max(corners))
