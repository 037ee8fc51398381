"""Where a new import stands: with its like, in the order that isort and ruff keep."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Sequence

from torchlift.finding import TextEdit
from torchlift.migrate.fix.rewrite.lines import alone, insert_lines, statement_at
from torchlift.source import Span
from torchlift.view import ModuleView

_Import = ast.Import | ast.ImportFrom


def place_import(view: ModuleView, anchor: Span, statement: str, changed: Collection[Span]) -> TextEdit | None:
    """The edit that adds an import of the standard library; None where it stands behind its anchor as any other line.

    Args:
        view: the file.
        anchor: an import after which the new one may stand.
        statement: the new import, of one name or module.
        changed: import statements that other edits change.
    """
    new = ast.parse(statement).body[0]
    block = _block(view, anchor)
    if not isinstance(new, _Import) or not _is_standard(new) or not block:
        return None
    standard = [item for item in block if _is_standard(item)]
    if isinstance(new, ast.ImportFrom):
        earlier = [item for item in view.tree.body if view.span(item).start < anchor.start and item not in block]
        like = [
            item
            for item in (*earlier, *standard)
            if isinstance(item, ast.ImportFrom) and item.module == new.module and not item.level
        ]
        if len(like) == 1 and view.span(like[0]) not in changed:
            return _joined(view, like[0], new.names[0])
    if any(view.span(item) in changed or not alone(view.source, view.span(item)) for item in block):
        return None
    if not standard:
        start = view.source.line_starts[view.source.location(view.span(block[0]).start)[0] - 1]
        return TextEdit(Span(start, start), f"{statement}{view.source.newline}{view.source.newline}")
    before = [item for item in standard if _key(item, standard) <= _key(new, standard)]
    if before:
        return insert_lines(view, view.span(before[-1]), [statement], "after")
    return insert_lines(view, view.span(standard[0]), [statement], "before")


def _block(view: ModuleView, anchor: Span) -> list[_Import]:
    """The imports at the top of the module, without a break, that an anchor is among; empty for any other anchor."""
    node = statement_at(view, anchor)
    body = view.tree.body
    if node not in body:
        return []
    first = last = body.index(node)
    while first and isinstance(body[first - 1], _Import):
        first -= 1
    while last + 1 < len(body) and isinstance(body[last + 1], _Import):
        last += 1
    found = [item for item in body[first : last + 1] if isinstance(item, _Import)]
    return [item for item in found if not (isinstance(item, ast.ImportFrom) and item.module == "__future__")]


def _is_standard(node: _Import) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    relative = isinstance(node, ast.ImportFrom) and node.level > 0
    return not relative and all(name.partition(".")[0] in sys.stdlib_module_names for name in names)


def _key(node: _Import, standard: Sequence[_Import]) -> tuple[bool, str]:
    """What sorts imports: `import a` before `from b import c`, or all by the module where the file mixes them in that order."""
    modules = [_module(item) for item in standard]
    kinds = [isinstance(item, ast.ImportFrom) for item in standard]
    mixed = kinds != sorted(kinds) and modules == sorted(modules)
    return not mixed and isinstance(node, ast.ImportFrom), _module(node)


def _module(node: _Import) -> str:
    return (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name


def _joined(view: ModuleView, statement: ast.ImportFrom, new: ast.alias) -> TextEdit | None:
    """One name more in a statement: before the first that sorts behind it if all are sorted, else as the last."""
    names = [alias.name for alias in statement.names]
    if "*" in names or new.name in names:
        return None
    spans = [view.span(alias) for alias in statement.names]
    lines = [view.source.location(span.start)[0] for span in spans]
    separate = len(lines) > 1 and len(set(lines)) == len(lines)
    gap = f",{view.source.newline}{view.source.indentation(spans[-1].start)}" if separate else ", "
    fold = [name.casefold() for name in names]
    in_order = names == sorted(names) or fold == sorted(fold)
    key = new.name if names == sorted(names) else new.name.casefold()
    known = names if names == sorted(names) else fold
    behind = next((index for index, name in enumerate(known) if name > key), None) if in_order else None
    if behind is not None:
        return TextEdit(Span(spans[behind].start, spans[behind].start), f"{new.name}{gap}")
    return TextEdit(Span(spans[-1].end, spans[-1].end), f"{gap}{new.name}")
