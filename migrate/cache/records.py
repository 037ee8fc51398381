"""Findings, results and facts as JSON that reads back as what it was; nothing but torchlift's own code is run to read it.

A tuple is `["(", ...]`, a list `["[", ...]`, a frozen set `["{", ...]`, another one `["s", ...]`, a mapping `[":", [key, value],
...]`, bytes `["b", text]`, a record the name of its class and its fields in order. Strings, numbers, booleans and null stand for
themselves. Classes are those of a closed list, and records and enumerations of rules, whose names have their modules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from importlib import import_module
from pathlib import PurePath
from typing import Any

from torchlift import finding
from torchlift.source import Span
from torchlift.versions import TorchVersion


class NotARecord(ValueError):
    """A value that cannot be written, or a text that was not written here."""


_CLASSES: tuple[type[Any], ...] = (
    Span,
    finding.Template,
    finding.ReplaceExpression,
    finding.EditCall,
    finding.DeleteStatement,
    finding.InsertStatements,
    finding.DropDecorator,
    finding.EditImport,
    finding.AddImport,
    finding.EditComment,
    finding.KeepBranch,
    finding.DropOperand,
    finding.ReplaceText,
    finding.Elsewhere,
    finding.Fix,
    finding.Group,
    finding.DroppedFix,
    finding.Finding,
    finding.TextEdit,
    finding.FileFailure,
)
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in _CLASSES}
_ENUMS: tuple[type[Enum], ...] = (finding.Safety, finding.Severity)
_OF_RULES = "torchlift.rules."
_PLAIN = (str, int, float, bool, type(None))


def packed(value: Any) -> Any:
    """The value as JSON has it.

    Raises:
        NotARecord: it holds something of a class that is not on the list.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple:
        return ["(", *map(packed, value)]
    if kind in _FIELDS:
        return [kind.__name__, *(packed(getattr(value, name)) for name in _FIELDS[kind])]
    if kind in _ENUMS:
        return [kind.__name__, value.value]
    if kind is TorchVersion:
        return ["TorchVersion", *value]
    return _packed_rarely(value)


def _packed_rarely(value: Any) -> Any:
    kind = type(value)
    if isinstance(value, bytes):
        return ["b", value.decode("latin-1")]
    if kind.__module__.startswith(_OF_RULES):
        name = f"{kind.__module__}:{kind.__qualname__}"
        if isinstance(value, Enum):
            return [name, value.value]
        return [name, *(packed(getattr(value, field)) for field in _fields_of_rules(kind))]
    if isinstance(value, (list, dict, set)) and kind not in {list, dict, set}:
        raise NotARecord(f"{kind.__name__} is not written")
    if kind is set:
        return ["s", *sorted(map(packed, value), key=json.dumps)]
    if isinstance(value, list):
        return ["[", *map(packed, value)]
    if isinstance(value, Set):
        return ["{", *sorted(map(packed, value), key=json.dumps)]
    if isinstance(value, Mapping):
        return [":", *([packed(key), packed(item)] for key, item in value.items())]
    raise NotARecord(f"{type(value).__name__} is not written")


def _fields_of_rules(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a record that rules define, all of which its class takes in this order."""
    if is_dataclass(kind) and all(field.init and not field.kw_only for field in fields(kind)):
        return tuple(field.name for field in fields(kind))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple(kind._fields)
    raise NotARecord(f"{kind.__name__} is not written")


@lru_cache(maxsize=256)
def _of_rules(name: str) -> Callable[[list[Any]], Any]:
    """What reads records of a class that rules define.

    Raises:
        NotARecord: there is none.
    """
    module, _, qualified = name.partition(":")
    if not module.startswith(_OF_RULES) or not qualified.isidentifier():
        raise NotARecord(f"{name[:40]} is not read")
    try:
        kind = getattr(import_module(module), qualified)
    except (ImportError, AttributeError):
        raise NotARecord(f"there is no {name[:80]}") from None
    if not isinstance(kind, type) or kind.__module__ != module:
        raise NotARecord(f"{name[:80]} is no class")
    if issubclass(kind, Enum):
        return lambda items: kind(items[0])
    count = len(_fields_of_rules(kind))

    def read(items: list[Any]) -> Any:
        if len(items) != count:
            raise NotARecord(f"{name} has {count} fields")
        return kind(*map(unpacked, items))

    return read


def unpacked(value: Any) -> Any:
    """The value that `packed` made this of.

    Raises:
        NotARecord: it made nothing like this.
    """
    if type(value) in _PLAIN:
        return value
    if type(value) is not list or not value or type(value[0]) is not str:
        raise NotARecord("no tag")
    read = _READERS.get(value[0]) or _of_rules(value[0])
    try:
        return read(value[1:])
    except (TypeError, ValueError, UnicodeError) as error:
        raise NotARecord(str(error)) from None


def _record(kind: type[Any]) -> Callable[[list[Any]], Any]:
    count = len(fields(kind))

    def read(items: list[Any]) -> Any:
        if len(items) != count:
            raise NotARecord(f"{kind.__name__} has {count} fields")
        return kind(*map(unpacked, items))

    return read


_READERS: dict[str, Callable[[list[Any]], Any]] = {
    "(": lambda items: tuple(map(unpacked, items)),
    "[": lambda items: list(map(unpacked, items)),
    "{": lambda items: frozenset(map(unpacked, items)),
    "s": lambda items: set(map(unpacked, items)),
    ":": lambda items: {unpacked(key): unpacked(item) for key, item in items},
    "b": lambda items: str(items[0]).encode("latin-1"),
    "TorchVersion": lambda items: TorchVersion(*map(int, items)),
    **{kind.__name__: _record(kind) for kind in _CLASSES},
    **{kind.__name__: lambda items, kind=kind: kind(items[0]) for kind in _ENUMS},  # type: ignore[misc]
}


def described(value: Any) -> Any:
    """What tells a setting from another, as JSON has it; it is not read back.

    Raises:
        NotARecord: it holds something that has no text of its own, such as a function.
    """
    if isinstance(value, Enum):
        return [type(value).__name__, value.value]
    if isinstance(value, PurePath):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *([field.name, described(getattr(value, field.name))] for field in fields(value))]
    if isinstance(value, (list, tuple)):
        return list(map(described, value))
    if isinstance(value, Set):
        return sorted(map(described, value), key=json.dumps)
    if isinstance(value, Mapping):
        return sorted(([described(key), described(item)] for key, item in value.items()), key=json.dumps)
    if type(value) in _PLAIN:
        return value
    raise NotARecord(f"{type(value).__name__} has no text")
