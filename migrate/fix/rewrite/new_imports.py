"""Where a new or a moved import stands: with its like, in the order that isort and ruff keep."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path

from torchlift.file_bytes import file_bytes
from torchlift.finding import TextEdit
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.fix.rewrite.lines import alone, insert_lines, line_end, statement_at
from torchlift.source import Span
from torchlift.view import ModuleView

_Import = ast.Import | ast.ImportFrom
# Packages whose imports fixes bring in; where those of other ones stand, their authors know.
_MOVED = lazy_pattern(r"torch(?:vision|audio)?(?:\.|$)")
# Where isort and ruff are told that `import a` and `from b import c` are sorted together.
_CONFIGURED = ("pyproject.toml", "ruff.toml", ".ruff.toml", ".isort.cfg", "setup.cfg", "tox.ini")
_MIXED = lazy_pattern(rb"(?i)force[_-]sort[_-]within[_-]sections[ \t]*=[ \t]*(?:true|1|on|yes)\b")


@lru_cache(maxsize=8)
def sorts_together(root: Path) -> bool:
    """Whether the configuration of a project sorts `import a` and `from b import c` by their modules alone."""
    for name in _CONFIGURED:
        try:
            if _MIXED.search(file_bytes(root / name)):
                return True
        except OSError:
            continue
    return False


def place_import(
    view: ModuleView, anchor: Span, statement: str, changed: Collection[Span], *, mixed: bool = False
) -> TextEdit | None:
    """The edit that adds an import; None where it stands behind its anchor as any other line.

    Args:
        view: the file.
        anchor: an import after which the new one may stand.
        statement: the new import, of one name or module.
        changed: import statements that other edits change.
        mixed: whether the project sorts by modules alone.
    """
    new = ast.parse(statement).body[0]
    block = [item for item in _block(view, anchor) if view.span(item) != anchor or anchor not in changed]
    if not isinstance(new, _Import) or not block or not (_is_standard(new) or _MOVED.match(_module(new))):
        return None
    standard = [item for item in block if _is_standard(item)] if _is_standard(new) else _group(view, anchor, block)
    if not _is_standard(new) and (not standard or not _is_sorted(standard, mixed)):
        return None
    if isinstance(new, ast.ImportFrom) and len(new.names) == 1:
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
    before = [item for item in standard if _key(item, standard, mixed) <= _key(new, standard, mixed)]
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


def move_import(
    view: ModuleView, anchor: Span, text: str, changed: Collection[Span], *, mixed: bool
) -> list[TextEdit] | None:
    """Edits that take an import away and put `text`, what it has become, where its like stand; None where it may stay."""
    node = statement_at(view, anchor)
    source = view.source
    line, last = source.location(anchor.start)[0], source.location(anchor.end)[0]
    above = source.line(line - 1).strip() if line > 1 else ""
    if node not in view.tree.body or not alone(source, anchor) or above.startswith("#") or "#" in source.line(last):
        return None
    edit = place_import(view, anchor, text, changed, mixed=mixed)
    start, end = source.line_starts[line - 1], line_end(source, anchor.end)
    if edit is None or edit.span.start == end:
        return None
    if edit.span.start == start and not edit.text.endswith(source.newline * 2):
        return None
    if not above:
        while end < len(source.text) and not source.line(source.location(end)[0]).strip():
            end = line_end(source, end)
    return [edit, TextEdit(Span(start, end), "")]


def _group(view: ModuleView, anchor: Span, block: Sequence[_Import]) -> list[_Import]:
    """The imports of a block that no blank line and no comment sets apart from an anchor, but for relative ones."""
    source = view.source
    first, last = source.location(anchor.start)[0], source.location(anchor.end)[0]
    while first > 1 and _is_code(source.line(first - 1)):
        first -= 1
    while last < len(source.line_starts) and _is_code(source.line(last + 1)):
        last += 1
    return [
        item
        for item in block
        if first <= source.location(view.span(item).start)[0] <= last
        and not _is_standard(item)
        and not getattr(item, "level", 0)
    ]


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _is_sorted(group: Sequence[_Import], mixed: bool) -> bool:
    keys = [_key(item, group, mixed) for item in group]
    return keys == sorted(keys)


def _is_standard(node: _Import) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    relative = isinstance(node, ast.ImportFrom) and node.level > 0
    return not relative and all(name.partition(".")[0] in sys.stdlib_module_names for name in names)


def _key(node: _Import, standard: Sequence[_Import], mixed: bool = False) -> tuple[bool, str, bool]:
    """What sorts imports: `import a` before `from b import c`, or all by the module where the file mixes them in that order."""
    modules = [_module(item) for item in standard]
    kinds = [isinstance(item, ast.ImportFrom) for item in standard]
    mixed = (mixed and modules == sorted(modules)) or (kinds != sorted(kinds) and modules == sorted(modules))
    is_from = isinstance(node, ast.ImportFrom)
    return not mixed and is_from, _module(node), is_from


def _module(node: _Import) -> str:
    return ((node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name).casefold()


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
