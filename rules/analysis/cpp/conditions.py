"""Values of the conditions behind `#if`, as far as the release of torch decides them."""

from __future__ import annotations

import re
from collections.abc import Callable

from torchlift.lazy_pattern import lazy_pattern
from torchlift.versions import TorchVersion

_TOKEN = lazy_pattern(r"\s*(defined\s*\(\s*\w+\s*\)|defined\s+\w+|\w+|&&|\|\||[<>=!]=|[-+*/()<>!])")
_NUMBER = lazy_pattern(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "<": lambda a, b: a < b,
        ">": lambda a, b: a > b,
        "<=": lambda a, b: a <= b,
        ">=": lambda a, b: a >= b,
    },
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b},
)


class _Unreadable(Exception):
    """The condition is none of those that are understood."""


def value_of(condition: str, release: TorchVersion) -> int | None:
    """What a condition comes to under a release; None where something else decides, or where it is not understood."""
    tokens = _TOKEN.findall(condition)
    if "".join(tokens).replace(" ", "") != re.sub(r"\s", "", condition):
        return None
    try:
        reader = _Reader(tokens, release)
        value = reader.either()
    except _Unreadable:
        return None
    return value if reader.at == len(tokens) else None


class _Reader:
    """Reads one condition; None among values is "not known"."""

    def __init__(self, tokens: list[str], release: TorchVersion) -> None:
        self.tokens = tokens
        self.release = release
        self.at = 0

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def either(self) -> int | None:
        value = self.both()
        while self._next() == "||":
            self.at += 1
            other = self.both()
            value = 1 if value or other else None if value is None or other is None else 0
        return value

    def both(self) -> int | None:
        value = self.compared(0)
        while self._next() == "&&":
            self.at += 1
            other = self.compared(0)
            value = 0 if value == 0 or other == 0 else None if value is None or other is None else 1
        return value

    def compared(self, level: int) -> int | None:
        if level == len(_LEVELS):
            return self.single()
        value = self.compared(level + 1)
        while (sign := self._next()) in _LEVELS[level]:
            self.at += 1
            other = self.compared(level + 1)
            value = None if value is None or other is None else int(_LEVELS[level][sign](value, other))
        return value

    def single(self) -> int | None:
        token = self._next()
        self.at += 1
        if token == "(":
            value = self.either()
            if self._next() != ")":
                raise _Unreadable
            self.at += 1
            return value
        if token == "!":
            value = self.single()
            return None if value is None else int(not value)
        if token.startswith("defined"):
            return 1 if re.search(r"\bTORCH_VERSION_(?:MAJOR|MINOR|PATCH)\b", token) else None
        number = _NUMBER.fullmatch(token)
        if number:
            return int(number[1], 0) if not number[1].startswith("0") or number[1][1:2] in "xX" else int(number[1], 8)
        if not re.fullmatch(r"\w+", token):
            raise _Unreadable
        return {
            "TORCH_VERSION_MAJOR": self.release.major,
            "TORCH_VERSION_MINOR": self.release.minor,
            "TORCH_VERSION_PATCH": 0,
            "true": 1,
            "false": 0,
        }.get(token)
