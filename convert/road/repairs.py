"""Other inputs for a call that failed, from what its error says: sizes, numbers of dimensions, dtypes, keys, numbers.

An error of torch names what it wanted: `mat1 and mat2 shapes cannot be multiplied (4x3 and 8x5)` asks for 8 where 3 stands.
What wanted it need not be known: each number in the error is tried in the place of each size, likely places first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

_TENSOR = re.compile(r"(\w+)\[([\d,]*)\]((?:<\d+)?(?:\+grad)?)")
_PRODUCT = re.compile(r"shapes cannot be multiplied \(\d+x([1-9]\d*) and ([1-9]\d*)x\d+\)")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_KEY = re.compile(r"KeyError: '?\"?([^'\"\n]{1,80}?)'?\"?\s*$", re.MULTILINE)
_LARGEST = 1 << 16
_NUMBERS = 12
_MOST_DIMENSIONS = 5
_MOST_ITEMS = 1 << 22
_LARGE = 1 << 20
_FURTHEST = 4096
_DTYPES = {
    "Long": "int64", "Int": "int32", "int64": "int64", "int": "int64", "Float": "float32", "Double": "float64", "Half": "float16",
    "Bool": "bool", "Byte": "uint8", "float": "float32", "double": "float64", "index": "int64", "indices": "int64",
}  # fmt: skip
_NEW_VALUES = ("float32[4,3]", "int64[4]<2", "float32[4]")

Call = tuple[list[Any], dict[str, Any]]


def repaired(call: Call, error: str) -> Iterator[Call]:
    """Calls that differ in one place, likely ones first.

    Args:
        call: args and kwargs, as in `GivenInputs`.
        error: the message that it ended with.
    """
    for _, changed in sorted(_places(call, error), key=lambda one: one[0] + _weight(one[1])):
        yield changed


def misfit_of(error: str) -> tuple[int, float] | None:
    """How many points a layer wanted and how far off what it got was, where an error says so; 0 is no distance."""
    found = _PRODUCT.search(error)
    return None if found is None else (int(found[2]), abs(math.log(int(found[1]) / int(found[2]))))


def _weight(call: Call) -> int:
    """What large tensors add to how unlikely a call is: they take long, and layers are seldom meant for them."""
    shapes = [[int(size) for size in one[2].split(",") if size] for one in _TENSOR.finditer(str(call))]
    return 2 * sum(math.prod(shape) > _LARGE for shape in shapes)


def _places(call: Call, error: str) -> Iterator[tuple[int, Call]]:
    args, kwargs = call
    numbers = _numbers(error)
    for old in numbers[:2]:
        for new in numbers[:2]:
            if old != new and (everywhere := _resized([args, kwargs], old, new)) != [args, kwargs]:
                yield 2, (everywhere[0], everywhere[1])
    for number, value in enumerate(args):
        for cost, other in _changed(value, error):
            yield cost, ([*args[:number], other, *args[number + 1 :]], kwargs)
    for name, value in kwargs.items():
        for cost, other in _changed(value, error):
            yield cost, (args, {**kwargs, name: other})


def _changed(value: Any, error: str) -> Iterator[tuple[int, Any]]:
    """A value with one thing changed, and how unlikely that is."""
    if value is None and "NoneType" in error + "NoneType" * ("null optional" in error):
        yield from ((2, one) for one in _NEW_VALUES)
    elif isinstance(value, str):
        yield from _tensors(value, error)
    elif type(value) is int:
        yield from ((1, one) for one in _numbers(error) if one != value)
    elif isinstance(value, dict) and "dict" in value:
        yield from _dictionaries(value["dict"], error)
    elif isinstance(value, (list, dict)):
        items = value if isinstance(value, list) else value.get("tuple", [])
        for number, item in enumerate(items):
            for cost, other in _changed(item, error):
                row = [*items[:number], other, *items[number + 1 :]]
                yield cost, row if isinstance(value, list) else {"tuple": row}
        if isinstance(value, list) and items:
            yield from (
                (3, [items[0]] * count) for count in (1, *_numbers(error)) if count != len(items) and count <= 9
            )


def _dictionaries(items: dict[str, Any], error: str) -> Iterator[tuple[int, Any]]:
    for key in _KEY.findall(error):
        if key not in items:
            yield from ((place, {"dict": {**items, key: one}}) for place, one in enumerate(_NEW_VALUES))
    for key, item in items.items():
        for cost, other in _changed(item, error):
            yield cost + 1, {"dict": {**items, key: other}}


def _tensors(words: str, error: str) -> Iterator[tuple[int, str]]:
    found = _TENSOR.fullmatch(words)
    if found is None:
        return
    dtype, below = found[1], found[3]
    if "not require grad" in error and dtype.startswith("float") and not below:
        yield 1, f"{words}+grad"
    shape = [int(size) for size in found[2].split(",") if size]
    numbers = _numbers(error)
    for place, size in enumerate(shape):
        for wanted in numbers:
            if wanted != size:
                named = size in numbers and place == max(n for n, one in enumerate(shape) if one == size)
                cost = 0 if named else 2 if size in numbers else 3
                yield cost, _words(dtype, [*shape[:place], wanted, *shape[place + 1 :]], below)
    if len(shape) == len(("rows", "channels", "height", "width")):
        yield from ((4, _words(dtype, [shape[0], count, *shape[2:]], below)) for count in (1, 3) if count != shape[1])
    yield from ((place, _words(dtype, scaled, below)) for place, scaled in enumerate(_scaled(shape, error)))
    for side, cost in _sides(shape, error):
        yield cost, _words(dtype, [*shape[:-2], *side], below)
    kinds = {_DTYPES[word] for word in re.findall(r"[A-Za-z]\w*", error) if word in _DTYPES} - {dtype}
    for kind in sorted(kinds):
        limit = (below if "<" in below else "<2") if "int" in kind else ""
        yield 1 if "scalar type" in error or "dtype" in error or "must be" in error else 4, _words(kind, shape, limit)
    likely = re.search(r"[Dd]imension|\b\dD\b|\dD |elements in a list|unpack|matrix|vector|dims?\b", error) is not None
    for other in ([1, *shape], [2, *shape], shape[1:], [1, 1, *shape]):
        if len(other) <= _MOST_DIMENSIONS and other != shape:
            yield (1 if likely else 5), _words(dtype, other, below)


def _resized(value: Any, old: int, new: int) -> Any:
    """All tensors with another size in the place of this one."""
    if isinstance(value, str) and (found := _TENSOR.fullmatch(value)) is not None:
        shape = [new if int(size) == old else int(size) for size in found[2].split(",") if size]
        return _words(found[1], shape, found[3])
    if isinstance(value, list):
        return [_resized(item, old, new) for item in value]
    if isinstance(value, dict) and "str" not in value:
        return {name: _resized(item, old, new) for name, item in value.items()}
    return value


def _scaled(shape: list[int], error: str) -> Iterator[list[int]]:
    """Pictures or signals of other sizes, where a layer gets so many flattened points too many or too few.

    Layers on the way take a border off, so the size is not met at once; the next error says how far off it is still.
    """
    sides = shape[2:]
    found = _PRODUCT.search(error)
    factor = int(found[2]) / int(found[1]) if found is not None else 1
    if factor == 1 or not 1 / _FURTHEST < factor < _FURTHEST or len(sides) not in (1, 2):
        return
    more = 1 if factor > 1 else -1
    for changed in ([0, 1], [0], [1])[: 2 * len(sides) - 1]:
        part = factor ** (1 / len(sides if len(changed) > 1 else changed))
        scaled = [round(size * part) if n in changed else size for n, size in enumerate(sides)]
        nudged = [size + more if n in changed else size for n, size in enumerate(sides)]
        yield [*shape[:2], *(max(1, size) for size in (nudged if scaled == sides else scaled))]


def _sides(shape: list[int], error: str) -> Iterator[tuple[list[int], int]]:
    """Other sizes of pictures: of as many points as the error names, or so many times more or fewer."""
    if len(shape) < len(("height", "width")):
        return
    numbers = _numbers(error)
    viewed = _viewed(error)
    for place in range(len(viewed) - 3):
        yield [viewed[place] * viewed[place + 1], viewed[place + 2] * viewed[place + 3]], 1
    for one in numbers:
        root = math.isqrt(one)
        if root > 2 and root * root == one:
            yield [root, root], 2
    for one in numbers:
        for other in numbers:
            root = math.isqrt(one // other) if one > other else 0
            if root > 1 and root * root * other == one:
                yield [max(1, shape[-2] // root), max(1, shape[-1] // root)], 2
                if max(shape[-2:]) * root <= 512:
                    yield [shape[-2] * root, shape[-1] * root], 2


def _numbers(error: str) -> list[int]:
    apart = re.sub(r"(?<=\d)x(?=\d)", " ", error)
    viewed = _viewed(error)
    whole = [math.prod(viewed), math.prod(viewed[1:])] if viewed else []
    named = [int(one) for one in _NUMBER.findall(apart)]
    # "Padding size should be less than the dimension", "expected at least": one more than what is named.
    beyond = [one + 1 for one in named] if re.search(r"\b(less|smaller|greater|larger) than\b", error) else []
    found = dict.fromkeys([*whole, *named, *beyond])
    return [one for one in found if 0 < one <= _LARGEST][:_NUMBERS]


def _viewed(error: str) -> list[int]:
    """Sizes that something could not be viewed in."""
    return [int(one) for one in _NUMBER.findall((re.findall(r"shape '\[(.*?)\]' is invalid", error) or [""])[0])]


def _words(dtype: str, shape: list[int], below: str) -> str:
    """The tensor; a small one where it would be large."""
    if math.prod(shape) > _MOST_ITEMS:
        shape = [min(size, 2) for size in shape[:-1]] + shape[-1:]
    return f"{dtype}[{','.join(map(str, shape))}]{below}"
