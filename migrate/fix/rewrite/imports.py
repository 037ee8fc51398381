"""Edits of one `from ... import ...` statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from torchlift.finding import EditImport
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.fix.rewrite.fragments import CannotEdit, parse_import, render


@dataclass(frozen=True)
class ImportResult:
    """Outcome of editing an import statement.

    Attributes:
        text: the statement's new text; None when nothing is left of it.
        following: statements to put behind it, for names that moved to another module.
    """

    text: str | None
    following: tuple[str, ...]


def edit_import(text: str, edits: Sequence[EditImport]) -> ImportResult:
    """Apply `edits`, which all concern the statement in `text`.

    Raises:
        CannotEdit: the statement is not a plain one, or lacks a name.
    """
    statement = parse_import(text)
    if isinstance(statement.names, cst.ImportStar):
        raise CannotEdit("A star import cannot be changed name by name.")
    module = _module(statement)
    names = list(statement.names)
    order = _order_of(names)
    following: dict[str, list[str]] = {}
    targets = {edit.module for edit in edits}
    if len(edits) == len(names) and len(targets) == 1 and None not in targets:
        # Every name moves to the same place, so the statement itself moves.
        module = edits[0].module or module
        statement = statement.with_changes(module=_dotted(module), relative=[])
    for edit in edits:
        index = _index(names, edit)
        if edit.module is None:
            names = _without(names, index)
            continue
        new_name = edit.new_name or edit.name
        new_bound = edit.new_bound or edit.bound
        clause = new_name if new_name == new_bound else f"{new_name} as {new_bound}"
        if edit.module == module:
            names[index] = _alias(new_name, new_bound).with_changes(comma=names[index].comma)
        elif len(names) == 1 and not following:
            module = edit.module
            statement = statement.with_changes(module=_dotted(module), relative=[])
            names[0] = _alias(new_name, new_bound).with_changes(comma=names[0].comma)
        else:
            names = _without(names, index)
            following.setdefault(edit.module, []).append(clause)
    added = tuple(f"from {name} import {', '.join(clauses)}" for name, clauses in following.items())
    if not names:
        return ImportResult(None, added)
    return ImportResult(render(statement.with_changes(names=_in_order(names, order))), added)


def _module(statement: cst.ImportFrom) -> str:
    dots = "." * len(statement.relative)
    return dots + (render(statement.module) if statement.module is not None else "")


def _dotted(name: str) -> cst.Attribute | cst.Name:
    node = cst.parse_expression(name)
    assert isinstance(node, (cst.Attribute, cst.Name))
    return node


def _alias(name: str, bound: str) -> cst.ImportAlias:
    asname = None if name == bound else cst.AsName(cst.Name(bound))
    return cst.ImportAlias(name=cst.Name(name), asname=asname)


def _index(names: Sequence[cst.ImportAlias], edit: EditImport) -> int:
    for index, alias in enumerate(names):
        bound = alias.evaluated_alias or alias.evaluated_name
        if alias.evaluated_name == edit.name and bound == edit.bound:
            return index
    raise CannotEdit(f"The import statement does not import `{edit.name}`.")


def _by_kind(name: str) -> tuple[int, str]:
    """Constants, classes, functions: what isort and ruff sort by unless they are told otherwise."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name


_ORDERS: tuple[Callable[[str], object], ...] = (_by_kind, str.casefold, str)


def _order_of(names: Sequence[cst.ImportAlias]) -> Callable[[str], object] | None:
    """What the names are sorted by; None if by nothing that is known, or if comments stand between them."""
    plain = all(not isinstance(alias.comma, cst.Comma) or _is_blank(alias.comma.whitespace_after) for alias in names)
    listed = [alias.evaluated_name for alias in names]
    sorts = (order for order in _ORDERS if listed == sorted(listed, key=order))  # type: ignore[arg-type]
    return next(sorts, None) if plain else None


def _is_blank(space: cst.BaseParenthesizableWhitespace) -> bool:
    return not isinstance(space, cst.ParenthesizedWhitespace) or (
        space.first_line.comment is None and not space.empty_lines
    )


def _in_order(names: list[cst.ImportAlias], order: Callable[[str], object] | None) -> list[cst.ImportAlias]:
    if order is None:
        return names
    sort = sorted(names, key=lambda alias: order(alias.evaluated_name))  # type: ignore[arg-type, return-value]
    return [alias.with_changes(comma=place.comma) for alias, place in zip(sort, names, strict=True)]


def _without(names: list[cst.ImportAlias], index: int) -> list[cst.ImportAlias]:
    removed = names[index]
    rest = names[:index] + names[index + 1 :]
    if index == len(names) - 1 and rest:
        rest[-1] = rest[-1].with_changes(comma=removed.comma)
    return rest
