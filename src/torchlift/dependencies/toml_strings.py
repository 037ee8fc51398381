"""Every string of a TOML file with its keys and its place.

TOML's own parser gives no places. This one finds them, and is believed only where its strings are those of the real
parser: anything it does not understand ends in no strings at all.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import Any

from torchlift.lazy_dataclass import dataclass
from torchlift.source import Span

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_INLINE_BLANK = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"([^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)"')
_LITERAL = re.compile(r"'([^'\r\n]*)'")
_LONG = re.compile(r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}", re.DOTALL)
_OTHER = re.compile(r"[A-Za-z0-9_+:.-]+(?: [0-9:.+-]+Z?)?")


@dataclass(frozen=True, slots=True)
class TomlString:
    """A string value.

    Attributes:
        path: keys, and numbers in arrays, that lead to it.
        value: what it means.
        span: what stands between its quotes.
        plain: whether the value stands there as it is: on one line, without escapes.
    """

    path: Path
    value: str
    span: Span
    plain: bool = True


class _NotUnderstood(Exception):
    pass


def toml_strings(text: str) -> list[TomlString]:
    """The strings of a TOML file, in order; none where only the real parser understands it.

    Raises:
        ValueError: it is no TOML; the text says why.
    """
    try:
        content = _tomllib().loads(text.replace("\r\n", "\n"))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    try:
        found = [(item, _at(content, item.path)) for item in _Scanner(text).scan()]
    except (_NotUnderstood, RecursionError):
        return []
    if any(not isinstance(value, str) or (item.plain and item.value != value) for item, value in found):
        return []
    return [item if item.plain else replace(item, value=value) for item, value in found]


def _tomllib() -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib


def _at(content: Any, path: Path) -> Any:
    for part in path:
        try:
            content = content[part]
        except (KeyError, IndexError, TypeError):
            return None
    return content


def _meant(quoted: str) -> str:
    return quoted[1:-1] if "\\" not in quoted else str(_tomllib().loads(f"a = {quoted}")["a"])


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.found: list[TomlString] = []
        self.counts: dict[Path, int] = {}

    def scan(self) -> list[TomlString]:
        table: Path = ()
        while True:
            self.skip(_BLANK)
            if self.position >= len(self.text):
                return self.found
            if self.text.startswith("[[", self.position):
                self.position += 2
                keys = self.located(self.keys())
                number = self.counts.get(keys, -1) + 1
                self.counts[keys] = number
                table = (*keys, number)
                self.expect("]]")
            elif self.text[self.position] == "[":
                self.position += 1
                table = self.located(self.keys())
                self.expect("]")
            else:
                keys = (*table, *self.keys())
                self.expect("=")
                self.value(keys)

    def located(self, keys: Path) -> Path:
        """The keys of a header with the number of each array of tables they lead into."""
        found: Path = ()
        for index, key in enumerate(keys):
            found = (*found, key)
            if index < len(keys) - 1 and found in self.counts:
                found = (*found, self.counts[found])
        return found

    def skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.position)
        if match is not None:
            self.position = match.end()

    def expect(self, word: str) -> None:
        self.skip(_INLINE_BLANK)
        if not self.text.startswith(word, self.position):
            raise _NotUnderstood
        self.position += len(word)

    def keys(self) -> Path:
        found: list[str] = []
        while True:
            self.skip(_INLINE_BLANK)
            for pattern, group in ((_BARE, 0), (_BASIC, 1), (_LITERAL, 1)):
                match = pattern.match(self.text, self.position)
                if match is not None:
                    found.append(match[group] if pattern is not _BASIC else _meant(match[0]))
                    self.position = match.end()
                    break
            else:
                raise _NotUnderstood
            self.skip(_INLINE_BLANK)
            if not self.text.startswith(".", self.position):
                return tuple(found)
            self.position += 1

    def value(self, path: Path) -> None:
        self.skip(_INLINE_BLANK)
        text, start = self.text, self.position
        if text.startswith(('"""', "'''"), start):
            match = _LONG.match(text, start)
            if match is not None:
                self.found.append(TomlString(path, "", Span(start + 3, match.end() - 3), plain=False))
        elif text.startswith(('"', "'"), start):
            match = (_BASIC if text[start] == '"' else _LITERAL).match(text, start)
            if match is not None:
                plain = text[start] == "'" or "\\" not in match[1]
                self.found.append(TomlString(path, match[1], Span(*match.span(1)), plain))
        elif text.startswith(("[", "{"), start):
            self.items(path)
            return
        else:
            match = _OTHER.match(text, start)
        if match is None:
            raise _NotUnderstood
        self.position = match.end()

    def items(self, path: Path) -> None:
        """What stands in an array or an inline table."""
        array = self.text[self.position] == "["
        closing = "]" if array else "}"
        self.position += 1
        number = 0
        while True:
            self.skip(_BLANK)
            if self.text.startswith(closing, self.position):
                self.position += 1
                return
            if array:
                self.value((*path, number))
            else:
                keys = self.keys()
                self.expect("=")
                self.value((*path, *keys))
            number += 1
            self.skip(_BLANK)
            if self.text.startswith(",", self.position):
                self.position += 1
