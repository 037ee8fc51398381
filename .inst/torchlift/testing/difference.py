"""Where two descriptions differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from .nodes import Array, Call, Container, Node, Observed, Raised, Scalar, format_number, short

Aspect = Literal["error", "type", "structure", "dtype", "shape", "device", "requires_grad", "values"]

# Distance from 1 to the next number: what one rounding may change in types coarser than float32.
_COARSE = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float8_e4m3fn": 2.0**-3, "float8_e5m2": 2.0**-2}


@dataclass(frozen=True)
class Tolerance:
    """How far two floating point values may lie apart and still be equal: `atol + rtol * abs(value)`.

    Types coarser than float32 get at least one rounding step of their own.
    """

    rtol: float = 1e-5
    atol: float = 1e-5

    def of(self, dtype: str) -> Tolerance:
        """The tolerance for values of one dtype."""
        step = _COARSE.get(dtype, 0.0)
        return Tolerance(max(self.rtol, step), max(self.atol, step))

    def equal(self, left: float, right: float) -> bool:
        """Whether two numbers are equal; NaN equals NaN."""
        if left == right or (math.isnan(left) and math.isnan(right)):
            return True
        return abs(left - right) <= self.atol + self.rtol * max(abs(left), abs(right)) < math.inf


@dataclass(frozen=True)
class Mismatch:
    """One difference.

    Attributes:
        path: which part of the value, as in code; empty for the whole.
        aspect: what differs.
        left, right: both sides, in short.
        extent: how much of the part differs, in words; empty where that says nothing.
        call: the call that shows it, where calls were compared.
    """

    path: str
    aspect: Aspect
    left: str
    right: str
    extent: str = ""
    call: Call | None = None

    def overlaps(self, other: Mismatch) -> bool:
        """Whether both speak of the same part, or one of a part of the other's."""
        if self.call is not None and other.call is not None and self.call.label != other.call.label:
            return False
        longer, shorter = sorted((self.path, other.path), key=len, reverse=True)
        return longer.startswith(shorter) and (not shorter or longer[len(shorter) :][:1] in ("", "[", ".", "{", " "))


def mismatches(left: Node, right: Node, tolerance: Tolerance, path: str = "") -> list[Mismatch]:
    """All differences between two descriptions; two errors are alike, whatever they say.

    Dictionaries are compared by key, not by order.
    """
    if isinstance(left, Raised) or isinstance(right, Raised):
        if type(left) is type(right):
            return []
        return [Mismatch(path, "error", _outcome(left), _outcome(right))]
    if type(left) is not type(right):
        return [Mismatch(path, "type", _kind(left), _kind(right))]
    if isinstance(left, Observed) and isinstance(right, Observed):
        return _calls(left, right, tolerance, path)
    if isinstance(left, Array) and isinstance(right, Array):
        return _arrays(left, right, tolerance, path)
    if isinstance(left, Container) and isinstance(right, Container):
        return _containers(left, right, tolerance, path)
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        if left.type != right.type:
            return [Mismatch(path, "type", short(left), short(right))]
        numbers = isinstance(left.value, float) and isinstance(right.value, float)
        if numbers and tolerance.equal(left.value, right.value):  # type: ignore[arg-type]
            return []
    return [] if left == right else [Mismatch(path, "values", short(left), short(right))]


def call_mismatches(left: Call, right: Call, tolerance: Tolerance) -> list[Mismatch]:
    """All differences between the outcomes of two calls and between what they did to their inputs."""
    found = mismatches(left.outcome, right.outcome, tolerance, "output")
    if not isinstance(left.outcome, Raised) and not isinstance(right.outcome, Raised):
        found += mismatches(left.arguments, right.arguments, tolerance, "input")
    return [replace(mismatch, call=left) for mismatch in found]


def _calls(left: Observed, right: Observed, tolerance: Tolerance, path: str) -> list[Mismatch]:
    if [call.label for call in left.calls] != [call.label for call in right.calls]:
        return [Mismatch(path, "structure", short(left), short(right))]
    found = []
    for one, other in zip(left.calls, right.calls):
        for mismatch in call_mismatches(one, other, tolerance):
            found.append(replace(mismatch, path=f"{path} {mismatch.path}".strip()))
    return found


def _arrays(left: Array, right: Array, tolerance: Tolerance, path: str) -> list[Mismatch]:
    found = []
    if left.type != right.type:
        found.append(Mismatch(path, "type", left.type, right.type))
    if left.dtype != right.dtype:
        found.append(Mismatch(path, "dtype", left.dtype, right.dtype))
    if left.device != right.device:
        found.append(Mismatch(path, "device", left.device, right.device))
    if left.requires_grad != right.requires_grad:
        found.append(Mismatch(path, "requires_grad", str(left.requires_grad), str(right.requires_grad)))
    if left.shape != right.shape:
        return [*found, Mismatch(path, "shape", str(list(left.shape)), str(list(right.shape)))]
    coarser = left if left.dtype in _COARSE else right
    values = _values(left, right, tolerance.of(coarser.dtype), path)
    return [*found, values] if values else found


def _values(left: Array, right: Array, tolerance: Tolerance, path: str) -> Mismatch | None:
    if left.code == right.code and left.data == right.data:
        return None
    exact = left.code != "d" or right.code != "d"
    first, count, furthest = -1, 0, 0.0
    allowed, relative = tolerance.atol, tolerance.rtol
    for index, (one, other) in enumerate(zip(left.values, right.values)):
        if one == other:
            continue
        # The common case of `Tolerance.equal` without the call: outputs have millions of values.
        if not exact and (abs(one - other) <= allowed + relative * abs(one) < math.inf or tolerance.equal(one, other)):
            continue
        first = index if first < 0 else first
        count += 1
        furthest = max(furthest, abs(one - other))
    if not count:
        return None
    total = len(left.values)
    extent = (
        ""
        if total == 1
        else f"{count} of {total} values, by up to {format_number(furthest)}, first {_place(left, first)}"
    )
    return Mismatch(path, "values", format_number(left.values[first]), format_number(right.values[first]), extent)


def _place(array: Array, index: int) -> str:
    place = []
    if array.dtype.startswith("complex"):
        index //= 2
    for size in reversed(array.shape):
        index, position = divmod(index, size)
        place.append(position)
    return f"at {place[::-1]}"


def _containers(left: Container, right: Container, tolerance: Tolerance, path: str) -> list[Mismatch]:
    found = []
    if left.type != right.type:
        found.append(Mismatch(path, "type", left.type, right.type))
    one, other = dict(left.items), dict(right.items)
    if one.keys() != other.keys():
        lost = [key for key in one if key not in other]
        added = [key for key in other if key not in one]
        parts = [f"{verb} {', '.join(keys)}" for verb, keys in (("lacks", lost), ("adds", added)) if keys]
        return [*found, Mismatch(path, "structure", f"{len(one)} parts", f"{len(other)} parts", "; ".join(parts))]
    for key, item in one.items():
        found += mismatches(item, other[key], tolerance, path + key)
    return found


def _kind(node: Node) -> str:
    return short(node) if isinstance(node, (Array, Scalar)) else getattr(node, "type", short(node))


def _outcome(node: Node) -> str:
    return f"raised {short(node)}" if isinstance(node, Raised) else f"returned {short(node)}"
