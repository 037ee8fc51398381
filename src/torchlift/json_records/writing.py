"""A record as a JSON value."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

_COLUMNS = 120


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


def on_lines(value: Any, indent: str = "", before: str = "") -> str:
    """JSON for people who read it: on one line what has room there, behind `indent` and `before`."""
    line = json.dumps(value)
    if not value or not isinstance(value, (dict, list)) or len(indent) + len(before) + len(line) < _COLUMNS:
        return indent + before + line
    inner, pairs = indent + "  ", isinstance(value, dict)
    parts = [(f"{json.dumps(key)}: ", value[key]) if pairs else ("", key) for key in value]
    inside = ",\n".join(on_lines(part, inner, name) for name, part in parts)
    return f"{indent}{before}{'{' if pairs else '['}\n{inside}\n{indent}{'}' if pairs else ']'}"
