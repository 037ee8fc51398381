"""A JSON value as a record.

Strict about what is there and lenient about what is not: a field that is missing takes its default, a key that is not known
is ignored (a later torchlift may have added it), anything of another type is refused.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

_WORDS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false", types.NoneType: "null"}

_Record = TypeVar("_Record")


class RecordError(ValueError):
    """The value is no such record; the text is a sentence that names the place and the reason."""


def read_record(kind: type[_Record], value: object) -> _Record:
    """The record of this data class that a JSON value describes. Raises `RecordError`."""
    read: _Record = _read(kind, value, "")
    return read


@cache
def field_types(kind: type) -> Mapping[str, Any]:
    """The resolved types of a data class's fields, `Annotated` included."""
    return get_type_hints(kind, include_extras=True)


def may_be_missing(field: Field[Any]) -> bool:
    """Whether a JSON object may leave this field out."""
    return not field.metadata.get("required") and (field.default is not MISSING or field.default_factory is not MISSING)


def whole_number(value: object) -> int | None:
    """A JSON number as an integer, None when it is none: 1.0 is one, and what some programs write for 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def shown(value: object) -> str:
    """A JSON value as a sentence names it: "a list", "null", 'the string "x"'; long ones are cut."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value) if isinstance(value, (str, int, float)) else type(value).__name__
    kind = "the string" if isinstance(value, str) else "the number"
    return f"{kind} {text}" if len(text) <= 60 else f"{kind} {text[:57]}..."


def _read(kind: Any, value: object, place: str) -> Any:
    if kind is Any:
        return value
    if is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise _wrong(place, "an object", value)
        return _read_object(kind, value, place)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is types.UnionType:
        if value is None:
            return None
        (inner,) = (choice for choice in arguments if choice is not types.NoneType)
        return _read(inner, value, place)
    if origin is list:
        if not isinstance(value, list):
            raise _wrong(place, "a list", value)
        return [_read(arguments[0], item, f"{place}[{index}]") for index, item in enumerate(value)]
    if origin is dict:
        if not isinstance(value, Mapping):
            raise _wrong(place, "an object", value)
        return {str(key): _read(arguments[1], item, f"{place}.{key}") for key, item in value.items()}
    if origin is Literal:
        choices = [
            choice for choice in arguments if choice == value and isinstance(choice, bool) is isinstance(value, bool)
        ]
        if not choices:
            raise _wrong(place, " or ".join(map(json.dumps, arguments)), value)
        return choices[0]
    read = _plain(kind, value)
    if read is None:
        raise _wrong(place, _WORDS[kind], value)
    return read


def _read_object(kind: Any, value: Mapping[str, Any], place: str) -> Any:
    hints = field_types(kind)
    arguments = {}
    for field in fields(kind):
        inside = f"{place}.{field.name}" if place else field.name
        if field.name in value:
            arguments[field.name] = _read(hints[field.name], value[field.name], inside)
        elif not may_be_missing(field):
            raise RecordError(f"`{inside}` is missing.")
    return kind(**arguments)


def _plain(kind: type, value: object) -> object:
    if kind is int:
        return whole_number(value)
    if kind is float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return _finite(value) if number else None
    return value if isinstance(value, kind) else None


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _wrong(place: str, expected: str, value: object) -> RecordError:
    return RecordError(f"{f'`{place}`' if place else 'This'} should be {expected}, but is {shown(value)}.")
