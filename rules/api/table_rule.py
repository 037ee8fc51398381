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


# Packages that have another spelling than the one rules see (`public_name`).
_RESPELLED = frozenset({"torch", "nn", "distributed", "jit"})


def is_common(word: str) -> bool:
    """Whether `word` may well stand in files that have nothing to do with torch."""
    return word.islower() and "_" not in word and len(word) < 12


def triggers(names: Iterable[str]) -> tuple[str, ...]:
    """For each name, texts of which one stands in every file using it.

    That is its last part together with the part before; for an everyday word only the ways in which the two are written.
    """
    found = set()
    for name in names:
        package, _, last = name.rpartition(".")
        before = package.rpartition(".")[2]
        if is_common(last) and before not in _RESPELLED:
            found |= {f"{before}.{last}", f"{before} import & {last}", f"{before} as & {last}"}
        else:
            found.add(f"{last} & {before}")
    return tuple(sorted(found))
