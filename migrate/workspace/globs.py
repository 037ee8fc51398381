"""Shell patterns over the paths of a project, as in `exclude` and `per-file-ignores`.

A pattern without a slash is compared with every part of a path, one with a slash with the path from its start and with
every folder above it: `build`, `*_pb2.py`, `tests/data`, `src/**/generated/*.{py,pyi}`. `*` and `?` stop at a slash,
`**` does not. `[abc]`, `[!abc]` and `{a,b}` mean what they mean in a shell; a bracket never closed means itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


class PathPatterns:
    """Decides which paths a list of patterns names.

    Paths have forward slashes and are relative to the folder that the patterns are relative to.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._literal: set[str] = set()
        names, paths = [], []
        for pattern in patterns:
            cleaned = pattern.strip().removeprefix("./").rstrip("/")
            if "/" in cleaned:
                paths.append(_regex(cleaned.removeprefix("/")))
            elif _is_literal(cleaned):
                self._literal.add(cleaned)
            else:
                names.append(_regex(cleaned))
        self._name = _any_of(names)
        self._path = _any_of(paths)

    def matches(self, path: str) -> bool:
        """Whether a pattern names `path` itself."""
        name = path.rpartition("/")[2]
        return bool(
            name in self._literal
            or (self._name is not None and self._name.fullmatch(name))
            or (self._path is not None and self._path.fullmatch(path))
        )

    def covers(self, path: str) -> bool:
        """Whether a pattern names `path` or a folder above it."""
        while path:
            if self.matches(path):
                return True
            path = path.rpartition("/")[0]
        return False


def _is_literal(pattern: str) -> bool:
    return not any(character in pattern for character in "*?[{")


def _any_of(expressions: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(expressions), re.DOTALL) if expressions else None


def _regex(pattern: str) -> str:
    braces = re.search(r"\{([^{}]*,[^{}]*)\}", pattern)
    if braces:
        variants = (pattern[: braces.start()] + choice + pattern[braces.end() :] for choice in braces[1].split(","))
        return "|".join(_regex(variant) for variant in variants)
    parts = []
    position = 0
    while position < len(pattern):
        rest = pattern[position:]
        character = pattern[position]
        group = re.match(r"\[!?(?:\][^\]/]*|[^\]/]+)\]", rest)
        if rest.startswith("**/") and (position == 0 or pattern[position - 1] == "/"):
            parts.append("(?:.*/)?")
            position += 3
        elif rest.startswith("**"):
            parts.append(".*")
            position += 2
        elif group:
            parts.append(_class(group[0]))
            position += group.end()
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(character, re.escape(character)))
            position += 1
    return "".join(parts)


def _class(text: str) -> str:
    body = text[1:-1]
    negated = len(body) > 1 and body.startswith("!")
    members = re.sub("-+", "-", "".join(c if c == "-" else re.escape(c) for c in body[negated:]))
    # A slash is never part of a class, so `[!a]` cannot reach into the next folder.
    expression = f"[^/{members}]" if negated else f"[{members}]"
    try:
        re.compile(expression)
    except re.error:
        return re.escape(text)
    return expression
