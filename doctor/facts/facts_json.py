"""Facts to JSON and back.

Reading is strict about what is there and lenient about what is not: a field that is missing takes its default, a key
that is not known is ignored (a later torchlift may have added it), anything of another type is refused with a sentence
that names its place. `doctor/facts.schema.json` accepts exactly what `from_json` reads.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from torchlift.doctor.facts import FACTS_SCHEMA, Facts

_WORDS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false", types.NoneType: "null"}


class FactsError(ValueError):
    """These are no facts that this torchlift can read; the text is a sentence that names the place and the reason."""


def to_json(facts: Facts) -> dict[str, Any]:
    """The facts as plain dictionaries, lists, strings, numbers, booleans and None, with every field present."""
    return asdict(facts)


def from_json(value: object) -> Facts:
    """The facts that `to_json` gave, here or in another torchlift with the same schema number.

    Raises `FactsError` when the value is something else.
    """
    if not isinstance(value, Mapping):
        raise FactsError(f"Facts are a JSON object, but this is {_name(value)}.")
    if "schema" not in value:
        raise FactsError(
            "This JSON object has no `schema`, so it is no facts file: one is written by `torchlift doctor --save-facts FILE`."
        )
    schema = _whole(value["schema"])
    if schema is None:
        raise FactsError(f"`schema` should be a whole number, but is {_name(value['schema'])}.")
    if schema > FACTS_SCHEMA:
        raise FactsError(
            f"These facts have schema {schema}, written by a newer torchlift; this one reads schema {FACTS_SCHEMA}. "
            "Upgrade torchlift: pip install --upgrade torchlift"
        )
    if schema < FACTS_SCHEMA:
        raise FactsError(
            f"These facts have schema {schema}, but this torchlift reads schema {FACTS_SCHEMA}: "
            "save them again with `torchlift doctor --save-facts FILE` on that machine."
        )
    facts = _read(Facts, value, "")
    assert isinstance(facts, Facts)
    return facts


def read_facts(path: Path) -> Facts:
    """The facts of a file. Raises `FactsError`, whose sentence names the file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FactsError(f"The facts file {path} cannot be read: {error.strerror or error}.") from None
    try:
        # Bytes, not text: json sees by itself whether it is UTF-8 or the UTF-16 that PowerShell's `>` writes.
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FactsError(f"The facts file {path} is not JSON: {error}.") from None
    try:
        return from_json(value)
    except FactsError as error:
        raise FactsError(f"The facts file {path} cannot be used. {error}") from None


@cache
def field_types(kind: type) -> Mapping[str, Any]:
    """The resolved types of a dataclass's fields."""
    return get_type_hints(kind)


def has_default(field: Field[Any]) -> bool:
    """Whether a JSON object may leave this field out."""
    return field.default is not MISSING or field.default_factory is not MISSING


def _read(kind: Any, value: object, place: str) -> object:
    if is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise _wrong(place, "an object", value)
        return _read_object(kind, value, place)
    origin = get_origin(kind)
    if origin is types.UnionType:
        if value is None:
            return None
        (inner,) = (choice for choice in get_args(kind) if choice is not types.NoneType)
        return _read(inner, value, place)
    if origin is list:
        if not isinstance(value, list):
            raise _wrong(place, "a list", value)
        return [_read(get_args(kind)[0], item, f"{place}[{index}]") for index, item in enumerate(value)]
    if origin is dict:
        if not isinstance(value, Mapping):
            raise _wrong(place, "an object", value)
        return {str(key): _read(get_args(kind)[1], item, f"{place}.{key}") for key, item in value.items()}
    read = _plain(kind, value)
    if read is None:
        raise _wrong(place, _WORDS[kind], value)
    return read


def _read_object(kind: Any, value: Mapping[str, Any], place: str) -> object:
    hints = field_types(kind)
    arguments = {}
    for field in fields(kind):
        inside = f"{place}.{field.name}" if place else field.name
        if field.name in value:
            arguments[field.name] = _read(hints[field.name], value[field.name], inside)
        elif not has_default(field):
            raise FactsError(f"`{inside}` is missing.")
    return kind(**arguments)


def _plain(kind: type, value: object) -> object:
    if kind is int:
        return _whole(value)
    if kind is float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return _finite(value) if number else None
    return value if isinstance(value, kind) else None


def _whole(value: object) -> int | None:
    # 1.0 is a whole number to JSON, and what some programs write for 1.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _wrong(place: str, expected: str, value: object) -> FactsError:
    return FactsError(f"`{place}` should be {expected}, but is {_name(value)}.")


def _name(value: object) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value) if isinstance(value, (str, int, float)) else type(value).__name__
    kind = "the string" if isinstance(value, str) else "the number"
    return f"{kind} {text}" if len(text) <= 60 else f"{kind} {text[:57]}..."
