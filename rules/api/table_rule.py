"""What the rules that report uses of the table of changes have in common."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlift.rules.api.absence import copes_without
from torchlift.rules.rule import Context
from torchlift.view import Use

_NO_USE = frozenset({"string", "store", "delete"})


def is_plain_use(use: Use, context: Context) -> bool:
    """Whether `use` surely means torch's name, needs it to be there, and is the place to report.

    Reads of an imported name are not: the import is. A mirror of torch has its own names.
    """
    if use.kind in _NO_USE or use.wrapper is not None or not use.certain:
        return False
    if isinstance(use.node, ast.Name) and use.resolution is not None and use.resolution.binding is not None:
        return False
    return not copes_without(context.view, use.node)


def triggers(names: Iterable[str]) -> tuple[str, ...]:
    """For each name, text that stands in every file using it: its last part, and the part before."""
    found = set()
    for name in names:
        package, _, last = name.rpartition(".")
        found.add(f"{last} & {package.rpartition('.')[2]}")
    return tuple(sorted(found))
