"""Bounds of a requirement that are raised until a release is among them."""

from __future__ import annotations

import re
from dataclasses import replace

from torchlift.dependencies.pin import Clause, Pin
from torchlift.finding import ReplaceText
from torchlift.rules.dependencies.wheels.builds import allows


def raised_to(pin: Pin, version: str | None) -> list[ReplaceText] | None:
    """What lets the bounds of a requirement reach a version: nothing where they do, None where no edit is plain."""
    if pin.specifier is None or version is None:
        return None
    if allows(pin.specifier, version):
        return []
    clauses = [replace(clause, version=_reaching(clause, version)) for clause in pin.clauses]
    if not allows(replace(pin, alternatives=(tuple(clauses),)).specifier, version):
        return None
    pairs = zip(pin.clauses, clauses, strict=True)
    return [ReplaceText(old.span, new.version) for old, new in pairs if new.version != old.version]


def _reaching(clause: Clause, version: str) -> str:
    """The version of an upper bound that lets in another one, as exact as it is written."""
    parts = clause.public.count(".") + 1
    numbers = version.split(".")
    if clause.operator == "<" and tuple(map(int, re.findall(r"\d+", clause.public))) <= tuple(map(int, numbers)):
        above = [numbers[0], str(int(numbers[1]) + 1), *["0"] * (parts - 2)]
        return ".".join(above)
    if clause.operator == "<=" and not allows(f"<={clause.public}", version):
        return version if parts > 2 or numbers[2:] != ["0"] else ".".join(numbers[:2])
    if clause.operator in {"~=", "~", "^"} and parts > 1:
        return ".".join(numbers[:parts])
    return clause.version
