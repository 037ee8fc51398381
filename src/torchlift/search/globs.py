"""Shell patterns over the paths of a project, as in `exclude` and `per-file-ignores`.

A pattern without a slash is compared with every part of a path, one with a slash with the path from its start and with
every folder above it: `build`, `*_pb2.py`, `tests/data`, `src/**/generated/*.{py,pyi}`. `*` and `?` stop at a slash,
`**` does not. `[abc]`, `[!abc]` and `{a,b}` mean what they mean in a shell; a bracket never closed means itself.

Patterns come with a repository that nobody has looked at, so a comparison takes time in proportion to the lengths of
pattern and path, whatever the pattern: a regular expression with several stars would not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from torchlift.lazy_pattern import lazy_pattern

_MOST_VARIANTS = 1000


class PatternError(ValueError):
    """A pattern that cannot be used; the message says why."""


class PathPatterns:
    """Decides which paths a list of patterns names.

    Paths have forward slashes and are relative to the folder that the patterns are relative to.

    Raises:
        PatternError: the braces of a pattern stand for more than 1000 others.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._literal: set[str] = set()
        names, paths = [], []
        for pattern in patterns:
            cleaned = pattern.strip().removeprefix("./").rstrip("/")
            if "/" in cleaned:
                paths += _variants(cleaned.removeprefix("/"))
            elif _is_literal(cleaned):
                self._literal.add(cleaned)
            else:
                names += _variants(cleaned)
        self._names = _Any(names)
        self._paths = _Any(paths)

    def matches(self, path: str) -> bool:
        """Whether a pattern names `path` itself."""
        name = path.rpartition("/")[2]
        return name in self._literal or self._names.match(name) or self._paths.match(path)

    def covers(self, path: str) -> bool:
        """Whether a pattern names `path` or a folder above it."""
        if self._paths.match_start(path):
            return True
        return any(name in self._literal or self._names.match(name) for name in path.split("/") if name)


def _is_literal(pattern: str) -> bool:
    return not any(character in pattern for character in "*?[{")


class _Any:
    """Several patterns without braces: those with one star at most as one regular expression, the others by themselves."""

    def __init__(self, patterns: Iterable[str]) -> None:
        simple, self._others = [], []
        for pattern in patterns:
            parts = _parts(pattern)
            if sum(part in _REPEATED for part in parts) <= 1:
                simple.append("".join(parts))
            else:
                self._others.append(_States(parts))
        self._simple = re.compile("|".join(simple), re.DOTALL) if simple else None

    def match(self, text: str) -> bool:
        """Whether one of them is all of `text`."""
        if self._simple is not None and self._simple.fullmatch(text):
            return True
        return any(states.match(text) for states in self._others)

    def match_start(self, path: str) -> bool:
        """Whether one of them is all of `path` or of a folder above it."""
        if any(states.match(path, or_folder=True) for states in self._others):
            return True
        while self._simple is not None and path:
            if self._simple.fullmatch(path):
                return True
            path = path.rpartition("/")[0]
        return False


# What may take any number of characters, as a part of a regular expression.
_FOLDERS = "(?:.*/)?"
_ANYTHING = ".*"
_WITHIN = "[^/]*"
_REPEATED = frozenset({_FOLDERS, _ANYTHING, _WITHIN})


class _States:
    """A pattern as the set of its places that a text read so far can have come to: one bit a place."""

    def __init__(self, parts: list[str]) -> None:
        self._parts = parts
        self._ones = [None if part in _REPEATED else re.compile(part, re.DOTALL) for part in parts]
        self._stay = {part: sum(1 << i for i, other in enumerate(parts) if other == part) for part in _REPEATED}
        self._moves: dict[str, int] = {}
        self._last = 1 << len(parts)

    def match(self, text: str, *, or_folder: bool = False) -> bool:
        """Whether the pattern is all of `text`, or also of what stands before one of its slashes."""
        at = self._skipped(1)
        inside = 0  # places in `**/` whose slash has still to come
        for character in text:
            if or_folder and character == "/" and at & self._last:
                return True
            folders = (at | inside) & self._stay[_FOLDERS]
            within = 0 if character == "/" else at & self._stay[_WITHIN]
            following = (at & self._move(character)) << 1 | at & self._stay[_ANYTHING] | within
            if character == "/":
                following |= folders << 1
            inside = folders
            at = self._skipped(following)
            if not at and not inside:
                return False
        return bool(at & self._last)

    def _move(self, character: str) -> int:
        if character not in self._moves:
            ones = enumerate(self._ones)
            self._moves[character] = sum(1 << i for i, one in ones if one is not None and one.fullmatch(character))
        return self._moves[character]

    def _skipped(self, at: int) -> int:
        """`at` and the places behind parts that may take nothing."""
        for index, part in enumerate(self._parts):
            if at >> index & 1 and part in _REPEATED:
                at |= 1 << (index + 1)
        return at


def _variants(pattern: str) -> list[str]:
    """The patterns that `pattern` stands for when its braces are written out."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(waiting) + len(done) > _MOST_VARIANTS:
            raise PatternError(f"its braces stand for more than {_MOST_VARIANTS} patterns; write fewer of them")
        current = waiting.pop()
        braces = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if braces is None:
            done.append(current)
        else:
            waiting += (current[: braces.start()] + choice + current[braces.end() :] for choice in braces[1].split(","))
    return list(dict.fromkeys(done))


def _parts(pattern: str) -> list[str]:
    """Regular expressions, each for one character or one of `_REPEATED`."""
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        rest = pattern[position:]
        character = pattern[position]
        group = _GROUP.match(pattern, position)
        if rest.startswith("**/") and (position == 0 or pattern[position - 1] == "/"):
            parts.append(_FOLDERS)
            position += 3
        elif rest.startswith("**"):
            parts.append(_ANYTHING)
            position += 2
        elif group:
            parts += _class(group[0])
            position = group.end()
        else:
            parts.append({"*": _WITHIN, "?": "[^/]"}.get(character, re.escape(character)))
            position += 1
    return parts


_GROUP = lazy_pattern(r"\[!?(?:\][^\]/]*|[^\]/]+)\]")


def _class(text: str) -> list[str]:
    body = text[1:-1]
    negated = len(body) > 1 and body.startswith("!")
    members = re.sub("-+", "-", "".join(c if c == "-" else re.escape(c) for c in body[negated:]))
    # A slash is never part of a class, so `[!a]` cannot reach into the next folder.
    expression = f"[^/{members}]" if negated else f"[{members}]"
    try:
        re.compile(expression)
    except re.error:
        return [re.escape(character) for character in text]
    return [expression]
