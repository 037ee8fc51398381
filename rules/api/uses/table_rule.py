"""What the rules that report uses of the table of changes have in common."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlift.rules.api.uses.absence import copes_without
from torchlift.rules.rule import Context
from torchlift.view import Use

_NO_USE = frozenset({"string", "store", "delete"})


def is_plain_use(use: Use, context: Context) -> bool:
    """Whether `use` surely means torch's name, needs it to be there, and is the place to report.

    Reads of an imported name are not: the import is. A mirror of torch has its own names.
    """
    # A configuration module refuses what it does not know (torch/utils/_config_module.py); other modules take any name.
    if (
        (use.kind in _NO_USE and not (use.kind == "store" and _is_setting(use.target)))
        or use.wrapper is not None
        or not use.certain
    ):
        return False
    if isinstance(use.node, ast.Name) and use.resolution is not None and use.resolution.binding is not None:
        return False
    if isinstance(use.node, ast.Constant):  # an annotation in quotes: nothing looks the name up
        return False
    statement = context.view.parent(use.node)
    if isinstance(statement, ast.ImportFrom) and statement.level:  # stubs of torch, or a copy of it
        return False
    return not copes_without(context.view, use.node, context.settings.target)


def _is_setting(name: str) -> bool:
    return "config" in name.split(".")[1:-1]


# Packages that have another spelling than the one rules see (`public_name`).
_RESPELLED = frozenset({"torch", "torch.nn", "torch.distributed", "torch.jit"})


def is_common(word: str) -> bool:
    """Whether `word` may well stand in files that have nothing to do with torch."""
    return len(word) < 16


def triggers(names: Iterable[str]) -> tuple[str, ...]:
    """For each name, texts of which one stands in every file using it.

    For a word that is rare enough, that is the word itself with its package; for others, the ways in which an import and a
    use of it are written.
    """
    found = set()
    for name in names:
        package, _, last = name.rpartition(".")
        parent, _, before = package.rpartition(".")
        if not is_common(last) or package in _RESPELLED or not parent:
            found.add(f"{last} & {before}")
            continue
        found |= {f"{before}.{last}", f"{last} & {package} import", f"{last} & {package} as"}
        if parent != "torch":
            found.add(f"{last} & {parent} import")
    return tuple(sorted(found))
