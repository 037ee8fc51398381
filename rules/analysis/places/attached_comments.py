"""Comment lines right above a statement, which belong to it."""

from __future__ import annotations

import ast

from torchlift.lazy_pattern import lazy_pattern
from torchlift.view import ModuleView

# Comments to tools, and lines drawn across the file.
_NOT_ATTACHED = lazy_pattern(
    r"(?i)#\s*(?:fmt|type|mypy|pylint|ruff|isort|noqa|pragma|region|endregion)\b|#[#=\-* ]*$|#!"
)


def comments_above(view: ModuleView, statement: ast.stmt) -> list[str]:
    """The comment lines right above `statement` and its decorators that stand as far in as it does, the nearest first."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first = min((view.span(item).start for item in decorators), default=view.span(statement).start)
    indentation = view.source.indentation(first)
    found: list[str] = []
    for number in range(view.source.location(first)[0] - 1, 0, -1):
        line = view.source.line(number)
        text = line[len(indentation) :]
        if not line.startswith(indentation) or not text.startswith("#") or _NOT_ATTACHED.match(text):
            break
        found.append(text.strip())
    return found
