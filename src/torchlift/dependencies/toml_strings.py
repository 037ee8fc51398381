"""Every string of a TOML file with its keys and its place.

TOML's own parser gives no places. So it reads the file twice: once as it is, once with a number in the place of every
string, which tells where the string of the same keys stands. Nothing is found where the two do not agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span

Path = tuple[str | int, ...]

_TOKEN = lazy_pattern(
    r"#[^\n]*|[\[\]{}]|"
    r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'",
    re.DOTALL,
)
_BEHIND_KEY = lazy_pattern(r"[ \t]*[.=]")


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


def toml_strings(text: str) -> list[TomlString]:
    """The strings of a TOML file, in order.

    Raises:
        ValueError: it is no TOML; the text says why.
    """
    from torchlift.toml_text import parsed_toml

    numbered, spans = _numbered(text)
    try:
        content = parsed_toml(text.replace("\r\n", "\n"))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    try:
        numbers = dict(_strings(parsed_toml(numbered.replace("\r\n", "\n"))))
        found = [(path, value, spans[int(numbers.pop(path))]) for path, value in _strings(content)]
    except (ValueError, KeyError, IndexError, RecursionError):
        return []
    strings = [TomlString(path, value, span, text[span.start : span.end] == value) for path, value, span in found]
    return sorted(strings, key=lambda string: string.span)


def _numbered(text: str) -> tuple[str, list[Span]]:
    """The text with numbers for its string values, and what stood between the quotes of each."""
    pieces: list[str] = []
    spans: list[Span] = []
    position = depth = 0
    header = False
    for match in _TOKEN.finditer(text):
        word, (start, end) = match[0], match.span()
        if word in "[{":
            header = header or (depth == 0 and not text[text.rfind("\n", 0, start) + 1 : start].strip())
            depth += 1
        elif word in "]}":
            depth -= 1
            header = header and depth > 0
        elif word[0] != "#" and not header and not _BEHIND_KEY.match(text, end):
            quotes = 3 if word.startswith(('"""', "'''")) else 1
            pieces += [text[position:start], f'"{len(spans)}"']
            spans.append(Span(start + quotes, end - quotes))
            position = end
    return "".join((*pieces, text[position:])), spans


def _strings(content: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    if isinstance(content, str):
        yield path, content
    elif isinstance(content, (dict, list)):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from _strings(value, (*path, key))
