"""A record as a JSON value."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any


def plain(record: Any) -> dict[str, Any]:
    """The record as dictionaries, lists, strings, numbers, booleans and None, with every field present."""
    written = {}
    for field in fields(record):
        value = _plain(getattr(record, field.name))
        if field.metadata.get("flattened"):
            written.update(value)
        else:
            written[field.name] = value
    return written


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return plain(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Enum):
        return value.value
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
