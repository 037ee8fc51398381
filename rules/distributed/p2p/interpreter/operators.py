"""Python's operators, builtin functions and methods on values that are known, with limits on what they may cost.

Everything here is computed by Python itself on the real values, so its rounding, its order and its errors are Python's.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torchlift.rules.distributed.p2p.interpreter.values import (
    BoundMethod,
    Class,
    Coalescing,
    CodeRaises,
    External,
    Function,
    Handle,
    Instance,
    ProcessGroup,
    Transfer,
    Unknown,
    Value,
    unknown_in,
)

_MOST_ELEMENTS = 4096
_LARGEST_EXPONENT = 64
_LARGEST_NUMBER = 1 << 64

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_OBJECTS = (Handle, ProcessGroup, Transfer, Instance, Function, Class, BoundMethod, Coalescing)
# Errors that Python's own operators and functions raise on unfit operands.
_ERRORS = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError)


class Unworkable(Exception):
    """The result cannot be said, or is not worth its cost."""


class Once(list[Any]):
    """What an iterator will still give: `zip(...)`, a generator. Whoever takes something out of it removes it."""


def _checked(result: Value) -> Value:
    if isinstance(result, int) and abs(result) >= _LARGEST_NUMBER:
        raise Unworkable
    return result


def binary(op: ast.operator, left: Value, right: Value) -> Value:
    """`left op right`.

    Raises:
        Unworkable: it depends on something unknown, or is too large.
        CodeRaises: Python raises an exception.
    """
    if isinstance(left, Once) or isinstance(right, Once):
        raise Unworkable
    for kind in (list, tuple):
        if isinstance(op, ast.Add) and type(left) is kind and type(right) is kind:
            if len(left) + len(right) > _MOST_ELEMENTS:
                raise Unworkable
            return kind([*left, *right])
    if isinstance(op, ast.Mult):
        for sequence, count in ((left, right), (right, left)):
            if isinstance(sequence, (list, tuple, str)) and isinstance(count, int):
                if len(sequence) * max(count, 0) > _MOST_ELEMENTS:
                    raise Unworkable
                return sequence * count
    if not _is_plain(left) or not _is_plain(right) or unknown_in((left, right)) is not None:
        raise Unworkable
    if isinstance(left, (str, bytes)) and not (isinstance(op, ast.Add) and isinstance(right, str)):
        raise Unworkable
    limited = isinstance(op, (ast.Pow, ast.LShift, ast.RShift))
    if limited and not (isinstance(right, (int, float)) and abs(right) <= _LARGEST_EXPONENT):
        raise Unworkable
    function = _BINARY.get(type(op))
    if function is None:
        raise Unworkable
    return attempt(lambda: _checked(function(left, right)))


def _is_plain(value: Value) -> bool:
    return value is None or isinstance(
        value, (int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range)
    )


def attempt(compute: Callable[[], Value]) -> Value:
    """The result of `compute`; what it raises is raised as `CodeRaises`."""
    try:
        return compute()
    except (MemoryError, RecursionError):
        raise Unworkable from None
    except _ERRORS as error:
        raise CodeRaises(type(error).__name__) from None


def unary(op: ast.unaryop, value: Value) -> Value:
    """`op value` for `-`, `+`, `~`; for exceptions see `binary`."""
    if not isinstance(value, (int, float)):
        raise Unworkable
    if isinstance(op, ast.Invert):
        return attempt(lambda: ~value)  # type: ignore[operator]
    return -value if isinstance(op, ast.USub) else +value


def compare(op: ast.cmpop, left: Value, right: Value) -> bool:
    """`left op right`; for exceptions see `binary`."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _is(left, right) is isinstance(op, ast.Is)
    if isinstance(op, (ast.In, ast.NotIn)):
        return _contains(right, left) is isinstance(op, ast.In)
    if isinstance(left, _OBJECTS) or isinstance(right, _OBJECTS):
        if isinstance(op, (ast.Eq, ast.NotEq)) and unknown_in((left, right)) is None:
            return (left is right) is isinstance(op, ast.Eq)
        raise Unworkable
    if isinstance(left, External) or isinstance(right, External):
        if left == right and isinstance(op, (ast.Eq, ast.NotEq)):
            return isinstance(op, ast.Eq)
        raise Unworkable
    if unknown_in((left, right)) is not None:
        raise Unworkable
    return bool(attempt(lambda: _COMPARISONS[type(op)](left, right)))


def _is(left: Value, right: Value) -> bool:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Unknown):
            if other is None and one.never_none:
                return False
            raise Unworkable
        if isinstance(one, External) and other is None:
            raise Unworkable
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, External) or isinstance(right, External):
        if left == right:
            return True
        raise Unworkable
    if isinstance(left, _OBJECTS) or isinstance(right, _OBJECTS):
        return left is right
    raise Unworkable  # whether two equal numbers or strings are one object is the interpreter's secret


def _contains(container: Value, item: Value) -> bool:
    if isinstance(container, Once):
        raise Unworkable
    if isinstance(container, (list, tuple, set, frozenset, dict, range, str)):
        if isinstance(item, (*_OBJECTS, External)):
            if any(element is item for element in container):
                return True
            if unknown_in(list(container)) is None:
                return False
            raise Unworkable
        if unknown_in(item) is not None:
            if not isinstance(container, str) and not len(container):
                return False
            raise Unworkable
        known = attempt(lambda: item in _without_unknown(container))
        if known or unknown_in(list(container)) is None:
            return bool(known)
    raise Unworkable


def _without_unknown(container: Value) -> Value:
    if isinstance(container, (list, tuple)):
        return [element for element in container if unknown_in(element) is None]
    return container


def truth(value: Value) -> bool | None:
    """Whether a value counts as true; None if unknown."""
    if isinstance(value, Unknown):
        return None
    if isinstance(value, (External, Once, *_OBJECTS)):
        return True
    return bool(value)


def elements(value: Value) -> list[Value]:
    """What iterating over a value gives.

    Raises:
        Unworkable: unknown, or too many.
        CodeRaises: it cannot be iterated over.
    """
    if isinstance(value, Once):
        left, value[:] = list(value), []
        return left
    if isinstance(value, (list, tuple, set, frozenset, dict, range, str, bytes)):
        if len(value) > _MOST_ELEMENTS:
            raise Unworkable
        return list(value)
    if value is None or isinstance(value, (int, float)):
        raise CodeRaises("TypeError")
    raise Unworkable


def subscript(container: Value, index: Value) -> Value:
    """`container[index]`; for exceptions see `binary`."""
    if isinstance(container, (list, tuple, range, str, bytes, dict)) and unknown_in(index) is None:
        if isinstance(container, Once):
            raise CodeRaises("TypeError")
        if isinstance(index, (External, *_OBJECTS)):
            raise Unworkable
        return attempt(lambda: container[index])
    raise Unworkable


def _limited(values: Iterator[Value]) -> Once:
    found = Once(itertools.islice(values, _MOST_ELEMENTS + 1))
    if len(found) > _MOST_ELEMENTS:
        raise Unworkable
    return found


def _enumerate(values: Value, start: Value = 0) -> Once:
    if unknown_in(start) is not None:
        raise Unworkable
    return Once(attempt(lambda: list(enumerate(elements(values), start))))


def _zip(*values: Value, strict: Value = False) -> Once:
    found = [elements(value) for value in values]
    if truth(strict) is None:
        raise Unworkable
    return Once(attempt(lambda: list(zip(*found, strict=bool(strict)))))


def _len(value: Value) -> int:
    if isinstance(value, Once):
        raise CodeRaises("TypeError")
    if isinstance(value, (list, tuple, set, frozenset, dict, range, str, bytes)):
        return len(value)
    raise Unworkable


def _plain_only(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Value, **keywords: Value) -> Value:
        if unknown_in((arguments, keywords)) is not None or not all(map(_is_plain, (*arguments, *keywords.values()))):
            raise Unworkable
        if any(isinstance(argument, range) and len(argument) > _MOST_ELEMENTS for argument in arguments):
            raise Unworkable
        return attempt(lambda: _checked(function(*arguments, **keywords)))

    return call


def _sorted(values: Value, *, reverse: Value = False) -> list[Value]:
    return list(_plain_only(sorted)(elements(values), reverse=reverse))


def _next(values: Value, *default: Value) -> Value:
    if not isinstance(values, Once):
        raise Unworkable
    if values:
        return values.pop(0)
    if default:
        return default[0]
    raise CodeRaises("StopIteration")


def _total(values: Value, start: Value = 0) -> Value:
    return _plain_only(sum)(elements(values), start)


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*values: Value) -> Value:
        return _plain_only(function)(*(elements(values[0]),) if len(values) == 1 else values)

    return call


def _power(base: Value, exponent: Value, *modulus: Value) -> Value:
    if modulus:
        raise Unworkable
    return binary(ast.Pow(), base, exponent)


def _copied(value: Value) -> Value:
    if type(value) in {list, dict, set}:
        return type(value)(value)
    if _is_plain(value):
        return value
    raise Unworkable


_BUILTINS: dict[str, Callable[..., Value]] = {
    "abs": _plain_only(abs),
    "all": lambda values: _every(values, all),
    "any": lambda values: _every(values, any),
    "bool": lambda value=False: _known_truth(value),
    "dict": _plain_only(dict),
    "divmod": _plain_only(divmod),
    "enumerate": _enumerate,
    "float": _plain_only(float),
    "frozenset": lambda values=(): _plain_only(frozenset)(elements(values)),
    "int": _plain_only(int),
    "len": _len,
    "list": lambda values=(): elements(values),
    "max": _extreme(max),
    "min": _extreme(min),
    "next": _next,
    "pow": _power,
    "range": _plain_only(range),
    "iter": lambda values: values if isinstance(values, Once) else Once(elements(values)),
    "reversed": lambda values: Once(elements(values)[::-1]),
    "round": _plain_only(round),
    "set": lambda values=(): _plain_only(set)(elements(values)),
    "slice": _plain_only(slice),
    "sorted": _sorted,
    "str": _plain_only(str),
    "sum": _total,
    "tuple": lambda values=(): tuple(elements(values)),
    "zip": _zip,
}
_LIBRARY: dict[str, Callable[..., Value]] = {
    **{
        f"math.{name}": _plain_only(getattr(math, name))
        for name in ("ceil", "floor", "log2", "log", "sqrt", "gcd", "isqrt", "fabs", "trunc", "prod")
    },
    "itertools.chain": lambda *values: Once(item for value in values for item in elements(value)),
    "itertools.chain.from_iterable": lambda values: Once(
        item for value in elements(values) for item in elements(value)
    ),
    "itertools.product": lambda *values: _limited(itertools.product(*map(elements, values))),
    "itertools.permutations": lambda values, *count: _limited(itertools.permutations(elements(values), *count)),
    "itertools.combinations": lambda values, count: _limited(itertools.combinations(elements(values), count)),
    "copy.copy": _copied,
}


def _every(values: Value, function: Callable[[Sequence[bool]], bool]) -> bool:
    answers = [truth(value) for value in elements(values)]
    known = [answer for answer in answers if answer is not None]
    decided = function(known)
    # One known element is enough to settle `any` and `all`, the unknown ones only matter to the other answer.
    if len(known) == len(answers) or decided is (function is any):
        return decided
    raise Unworkable


def _known_truth(value: Value) -> bool:
    answer = truth(value)
    if answer is None:
        raise Unworkable
    return answer


def call_function(name: str, arguments: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """What a function of Python or its library returns for these arguments.

    Raises:
        KeyError: the function is not known here.
        Unworkable, CodeRaises: as for `binary`.
    """
    function = _BUILTINS[name[9:]] if name.startswith("builtins.") else _LIBRARY[name]
    try:
        return function(*arguments, **keywords)
    except TypeError:
        raise Unworkable from None


MUTATING = frozenset(
    "append extend insert remove pop clear sort reverse update setdefault popitem add discard appendleft popleft "
    "__setitem__ __delitem__".split()
)
"""Methods that change a list, dict or set."""

_READING = {
    list: frozenset(("copy", "count", "index", "__len__", "__getitem__")),
    tuple: frozenset(("count", "index")),
    dict: frozenset(("copy", "get", "items", "keys", "values")),
    set: frozenset("copy difference intersection isdisjoint issubset issuperset union symmetric_difference".split()),
    frozenset: frozenset("copy difference intersection isdisjoint issubset issuperset union".split()),
    range: frozenset(("count", "index")),
    int: frozenset(("bit_length",)),
    str: frozenset(
        "startswith endswith lower upper strip lstrip rstrip split rsplit partition rpartition replace find isdigit join "
        "count removeprefix removesuffix".split()
    ),
}
_HOLDERS = frozenset({"append", "extend", "insert", "setdefault", "update", "__setitem__", "get"})


def call_method(receiver: Value, name: str, arguments: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """What a method of a known value returns; lists, dicts and sets are changed in place.

    Raises:
        Unworkable, CodeRaises: as for `binary`. The receiver may have been changed by then.
    """
    kind = bool if isinstance(receiver, bool) else type(receiver)
    if kind is Once:
        raise Unworkable
    allowed = name in _READING.get(kind, ()) or (name in MUTATING and kind in {list, dict, set})
    if not allowed:
        raise Unworkable
    if kind is list and name in {"remove", "index", "count", "sort"} and unknown_in((receiver, arguments)) is not None:
        raise Unworkable
    if kind is list and name == "extend":
        receiver.extend(elements(*arguments))
        return None
    if name not in _HOLDERS and unknown_in((arguments, keywords)) is not None:
        raise Unworkable
    if kind in {dict, set} and arguments and isinstance(arguments[0], Unknown):
        raise Unworkable
    if kind is list and len(receiver) > _MOST_ELEMENTS:
        raise Unworkable
    result = attempt(lambda: getattr(receiver, name)(*arguments, **keywords))
    return list(result) if name in {"items", "keys", "values"} else result
