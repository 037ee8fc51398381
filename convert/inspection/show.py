"""An inspection as a person reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from torchlift.convert.inspection.record import Inspection, Parameter
from torchlift.terminal.style import Style

_SHOWN = 12
_UNITS = ("B", "kB", "MB", "GB", "TB")


def shown(one: Inspection, style: Style, *, everything: bool = False) -> Iterator[str]:
    """The lines of a report.

    Args:
        one: what was found.
        style: how to write.
        everything: all parameters and imports, not the first ones only.
    """
    if one.problem is not None:
        yield style.verdict(one.problem, "problem")
        return
    version = f", format version {one.version}" if one.version else ""
    yield style.verdict(f"{one.path}: {one.what} ({size(one.bytes)}{version})", "ok")
    most = len(one.parameters) + len(one.imports) if everything else _SHOWN
    for remark in one.remarks:
        yield f"  {style.mark('warning')} {remark}"
    if one.methods:
        yield style.heading("Methods")
        for method in one.methods:
            yield f"  {method.schema}"
            if method.recorded is not None:
                yield f"    traced with {', '.join(json.dumps(item) if not isinstance(item, str) else item for item in method.recorded)}"
    if one.parameters:
        total = sum(parameter.bytes for parameter in one.parameters)
        count = len(one.parameters)
        yield style.heading(f"Tensors: {count}, {size(total)}")
        yield from _columns(one.parameters[:most])
        if count > most:
            yield f"  and {count - most} more (--all)"
    if one.extra_files:
        yield style.heading("Extra files")
        yield from (f"  {name} ({size(length)})" for name, length in one.extra_files.items())
    if one.operators:
        yield style.heading("Operators beyond aten")
        yield f"  {', '.join(one.operators)}"
    if one.imports:
        yield style.heading("What its pickles would import")
        for item in one.imports[:most]:
            refused = "" if item.allowed or one.tracing is not None else "  refused by weights_only=True"
            yield f"  {item.name}{' (called)' if item.called else ''}{refused}"
        if len(one.imports) > most:
            yield f"  and {len(one.imports) - most} more (--all)"
    yield from one.next


def printable(record: Any) -> Any:
    """The record with what a terminal would obey in place of showing it, such as escape sequences in names, spelled out."""
    if is_dataclass(record) and not isinstance(record, type):
        return replace(record, **{field.name: printable(getattr(record, field.name)) for field in fields(record)})
    if isinstance(record, str):
        return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in record)
    if isinstance(record, list):
        return [printable(item) for item in record]
    if isinstance(record, dict):
        return {printable(key): printable(item) for key, item in record.items()}
    return record


def size(length: int) -> str:
    """Bytes for a person: `1.5 MB`."""
    amount = float(length)
    for unit in _UNITS:
        if amount < 1000 or unit == _UNITS[-1]:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError


def _columns(parameters: list[Parameter]) -> Iterator[str]:
    width = max(len(one.name) for one in parameters)
    for one in parameters:
        device = "" if one.device == "cpu" else f"  {one.device}"
        yield f"  {one.name:<{width}}  {one.dtype}{one.shape}{device}"
