"""Markdown as GitHub and GitLab show it, around texts that may hold any sign."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from torchlift.lazy_pattern import lazy_pattern
from torchlift.terminal.columns import one_line

_SPECIAL = lazy_pattern(r"([\\`*_{}\[\]<>|#~!@&$])")


def prose(text: str) -> str:
    """Text in which nothing is a sign of Markdown, a tag, the name of somebody to notify or the number of an issue."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[1])};", one_line(text))


def sentences(text: str) -> str:
    """Prose in which what stands in backquotes is code."""
    parts = one_line(text).split("`")
    if len(parts) % 2 == 0:
        return prose(text)
    return "".join(code(part) if index % 2 and part else prose(part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """A span of code around any text."""
    text = one_line(text)
    fence = "`" * (_longest(text) + 1)
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"


def block(text: str, language: str = "") -> list[str]:
    """A block of code around any text."""
    fence = "`" * max(3, _longest(text) + 1)
    return [f"{fence}{language}", *text.rstrip("\n").splitlines(), fence]


def folded(title: str, text: str) -> list[str]:
    """Text as it is, shown when somebody opens it."""
    return ["<details>", f"<summary>{prose(title)}</summary>", "", *block(text, "text"), "", "</details>"]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of cells that are Markdown already."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines] if lines else []


def _longest(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
