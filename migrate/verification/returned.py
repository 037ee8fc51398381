"""What functions of the project return in two runs, call by call: the change that no test asserts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torchlift.lazy_dataclass import dataclass

Leaf = tuple[Any, ...]
"""Type, shape, and numbers: the value; or sum, sum of sizes, number of NaN, and some elements of a tensor."""
Call = tuple[int, tuple[Leaf, ...]]
Returned = Mapping[tuple[str, str, str], tuple[Call, ...]]
"""By test, module and function: what each call returned, after its number in the order of its process."""

# As far as programs that do the same may differ where sums are made in another order.
_RELATIVE = {
    **dict.fromkeys(("float64", "complex128"), 1e-7),
    **dict.fromkeys(("float", "complex", "float32", "complex64"), 1e-4),
    "float16": 2e-2,
    "bfloat16": 5e-2,
}


@dataclass(frozen=True)
class Otherwise:
    """A function that returned something else than before.

    Attributes:
        test: in which test; empty outside of any.
        module, function: which one.
        difference: what is different, without a full stop.
    """

    test: str
    module: str
    function: str
    difference: str

    @property
    def key(self) -> tuple[str, str, str]:
        """How it is found in what was returned."""
        return self.test, self.module, self.function


def returned_otherwise(before: Returned, after: Returned) -> Iterator[Otherwise]:
    """Functions that returned something else, by test the one first that returned first.

    Only calls are compared that both runs have: functions that were called another number of times, or are gone, are not.
    """
    found = []
    for key, values in before.items():
        # What holds no number, or was returned while a program was made of the function, is not compared.
        calls = [call for call in values if call[1]]
        others = [call for call in after.get(key, ()) if call[1]]
        if len(others) != len(calls):
            continue
        for (_, old), (number, new) in zip(calls, others, strict=True):
            difference = _difference(old, new)
            if difference is not None:
                found.append((key[0], number, Otherwise(*key, difference)))
                break
    yield from (other for _, _, other in sorted(found, key=lambda entry: entry[:2]))


def _difference(old: tuple[Leaf, ...], new: tuple[Leaf, ...]) -> str | None:
    if len(old) != len(new):
        return f"{len(new)} numbers and tensors where there were {len(old)}"
    for one, other in zip(old, new, strict=True):
        told, tells = _kind(one), _kind(other)
        if told != tells:
            return f"{tells} where there was {told}"
        for left, right in zip(one[2:], other[2:], strict=True):
            if not _close(left, right, one):
                return f"{right!r} where there was {left!r}" + (f" in {told}" if one[1] else "")
    return None


def _kind(leaf: Leaf) -> str:
    return f"{leaf[0]}{list(leaf[1])}" if leaf[1] else str(leaf[0])


def _close(left: object, right: object, leaf: Leaf) -> bool:
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return left == right
    relative = _RELATIVE.get(leaf[0], 0.0)
    # An element that is the small rest of large ones is only as exact as they are.
    count = 1
    for size in leaf[1]:
        count *= size
    scale = max(abs(left), abs(right))
    if len(leaf) > 4 and leaf[1]:
        mean = float(leaf[3]) / max(count, 1)
        scale = max(scale, mean if left is not leaf[2] else float(leaf[3]))
    return abs(left - right) <= relative * scale + (1e-12 if relative else 0.0)
