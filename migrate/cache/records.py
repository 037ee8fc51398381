"""Findings and results as JSON that reads back as what it was; a closed list of classes, and nothing is run to read it.

A tuple is `["(", ...]`, a list `["[", ...]`, a set `["{", ...]`, a mapping `[":", [key, value], ...]`, bytes `["b", text]`, a
record the name of its class and its fields in order. Strings, numbers, booleans and null stand for themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
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
    if isinstance(value, bytes):
        return ["b", value.decode("latin-1")]
    if isinstance(value, list):
        return ["[", *map(packed, value)]
    if isinstance(value, Set):
        return ["{", *sorted(map(packed, value), key=json.dumps)]
    if isinstance(value, Mapping):
        return [":", *([packed(key), packed(item)] for key, item in value.items())]
    raise NotARecord(f"{type(value).__name__} is not written")


def unpacked(value: Any) -> Any:
    """The value that `packed` made this of.

    Raises:
        NotARecord: it made nothing like this.
    """
    if type(value) in _PLAIN:
        return value
    if type(value) is not list or not value or type(value[0]) is not str:
        raise NotARecord("no tag")
    read = _READERS.get(value[0])
    if read is None:
        raise NotARecord(f"{value[0][:40]} is not read")
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
