"""Lines that a fix made longer than the project allows, wrapped as its formatter would: black, or ruff's.

Only where one of them is configured, and only a line that was short enough before, holds one simple statement and no comment. The
last bracket that is worth it is opened, its content stands on a line of its own, or with one item a line and a comma
behind the last.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from torchlift.file_bytes import file_bytes
from torchlift.finding import TextEdit
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.toml_text import parsed_toml
from torchlift.view import ModuleView

_USUAL = 88
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_STEP = "    "
_MOST_CALLS = 2  # longer chains are broken at their dots
_OPERATORS = frozenset("+ - * / // % ** @ | & ^ << >> < > <= >= == != and or not in is if else for lambda ;".split())
_WIDE = lazy_pattern(r"[^\x00-\x7f]")


@lru_cache(maxsize=8)
def line_length(root: Path) -> int | None:
    """How long lines of a project may be, by the formatter that it configures; None if it configures none."""
    own: dict[str, Any] = {}
    for name in ("pyproject.toml", "ruff.toml", ".ruff.toml"):
        try:
            found = parsed_toml(file_bytes(root / name).decode())
        except (OSError, ValueError, RecursionError):
            continue
        tools = found.get("tool") if name == "pyproject.toml" else {"ruff": found}
        own = {**tools, **own} if isinstance(tools, dict) else own
    for tool in ("black", "ruff"):
        settings = own.get(tool)
        if isinstance(settings, dict) and (tool == "black" or "line-length" in settings or "format" in settings):
            length = settings.get("line-length", settings.get("line_length", _USUAL))
            return length if isinstance(length, int) and length > 0 else None
    return None


def wrapped(view: ModuleView, edits: Sequence[TextEdit], length: int | None) -> list[TextEdit]:
    """The edits, with those of a line that they make too long as one edit that wraps it."""
    if length is None:
        return list(edits)
    found: list[TextEdit] = []
    for line, some in _by_line(view, edits):
        found += _one(view, line, some, length) if line is not None else some
    return found


def _by_line(view: ModuleView, edits: Sequence[TextEdit]) -> Iterator[tuple[int | None, list[TextEdit]]]:
    """Edits in order, those together that stand in one line; without a line those that reach over several."""
    pending: list[TextEdit] = []
    at: int | None = None
    for edit in edits:
        first, last = view.source.location(edit.span.start)[0], view.source.location(edit.span.end)[0]
        line = first if first == last and not re.search(r"[\r\n]", edit.text) else None
        if pending and (line is None or line != at):
            yield at, pending
            pending = []
        pending.append(edit)
        at = line
        if line is None:
            yield None, pending
            pending = []
    if pending:
        yield at, pending


def _one(view: ModuleView, number: int, edits: list[TextEdit], length: int) -> list[TextEdit]:
    start = view.source.line_starts[number - 1]
    old = view.source.line(number).rstrip("\r\n")
    new, end = "", start
    for edit in edits:
        new += view.source.text[end : edit.span.start] + edit.text
        end = edit.span.end
    new += view.source.text[end : start + len(old)]
    if len(new) <= length or len(old) > length or _WIDE.search(new) or "\t" in new:
        return edits
    lines = _split(new, length)
    if lines is None:
        return edits
    return [TextEdit(Span(start, start + len(old)), view.source.newline.join(lines))]


def _split(line: str, length: int) -> list[str] | None:
    """A line with one statement as several; None where that is not certain to be what a formatter makes of it."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    try:
        before = ast.parse(line.strip())
        if len(before.body) != 1 or not _is_call(before.body[0]):
            return None
        lines = _opened(line.strip(), indent, length, "")
        if lines is None or ast.dump(ast.parse("\n".join(lines).strip())) != ast.dump(before):
            return None
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return None
    return lines


def _is_call(statement: ast.stmt) -> bool:
    """Whether nothing but a call is computed: operators are split elsewhere."""
    if not isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)):
        return False
    value = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
    return isinstance(value, ast.Call)


def _opened(text: str, indent: str, length: int, comma: str) -> list[str] | None:
    """An expression or statement with one of its brackets opened, `comma` behind it; None if no bracket helps."""
    pairs, commas, plain = _brackets(text)
    if not plain or sum(closing > opening + 1 for opening, closing in pairs) > _MOST_CALLS:
        return None
    for opening, closing in reversed(pairs):
        body = text[opening + 1 : closing].strip()
        head, tail = f"{indent}{text[: opening + 1]}", f"{indent}{text[closing:]}{comma}"
        if not body or max(len(head), len(tail)) > length:
            continue
        items = [at for at in commas if opening < at < closing]
        if len(f"{indent}{_STEP}{body}") <= length and not body.endswith(","):
            return [head, f"{indent}{_STEP}{body}", tail]
        inner: list[str] = []
        for start, end in zip([opening, *items], [*items, closing], strict=True):
            item = text[start + 1 : end].strip()
            if not item:
                continue
            written = [f"{indent}{_STEP}{item},"]
            if len(written[0]) > length:
                deeper = _opened(item, indent + _STEP, length, "," if items else "")
                if deeper is None:
                    return None
                written = deeper
            inner += written
        return [head, *inner, tail]
    return None


def _brackets(text: str) -> tuple[list[tuple[int, int]], list[int], bool]:
    """The outermost pairs of brackets in a line, the commas one level inside them, and whether it has no comment or operator."""
    pairs: list[tuple[int, int]] = []
    commas: list[int] = []
    open_at: list[int] = []
    plain = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        at = token.start[1]
        if token.type == tokenize.COMMENT:
            plain = False
        elif token.string in _PAIRS:
            open_at.append(at)
        elif token.string in _PAIRS.values():
            start = open_at.pop()
            if not open_at:
                pairs.append((start, at))
        elif token.string == "," and len(open_at) == 1:
            commas.append(at)
        elif not open_at and (token.string in _OPERATORS):
            plain = False
    return pairs, commas, plain
