"""The grammars of one requirement: pip's, that of Poetry's tables, conda's.

Sources: PEP 508, PEP 440 and PEP 427 for pip, "Dependency specification" of Poetry's documentation, "Package match
specifications" of conda's. Only comparisons are taken apart, by hand: importing `packaging` for it would cost more than
all the rest of a run that finds nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace

from torchlift.dependencies.pin import Clause, Notation, Pin
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span

_NAME = lazy_pattern(r"\s*((?:[\w./-]+::)?[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*")
_CLAUSE = lazy_pattern(r"(===|==|~=|>=|<=|!=|>|<|=|\^|~|)\s*(\*|v?\d[\w.*+!-]*)\s*")
_UNREAD = lazy_pattern(r"[<>=!~^]*\s*[^,\s]*")
_NOT_OF_PIP = frozenset({"", "=", "^", "~"})
_AND = lazy_pattern(r",\s*")
_AND_OR = lazy_pattern(r",\s*|\|\|?\s*")
_KEYWORD = lazy_pattern(r"""\bversion\s*=\s*(?:'([^']*)'|"([^"]*)"|([^,\]]*))""")
_WHEEL = lazy_pattern(r"(?:^|[/\\@\s])([A-Z0-9](?:[\w.]*[A-Z0-9])?)-(\d[^-/\\]*)-[^/\\]+\.whl", re.IGNORECASE)
_LOCAL_TEMPLATE = lazy_pattern(r"\+\w*(?:\$\{?\w+\}?|\$\{\{[^{}]*\}\}|%\w+%)\Z")
# `2.4.0.${NIGHTLY}`: a release whose build something fills in.
_REST_TEMPLATE = lazy_pattern(r"(?<=\d)[.+-]?(?:dev)?(?:\$\{?\w+\}?|\$\{\{[^{}]*\}\}|%\w+%)\Z")
_TWO_NUMBERS = lazy_pattern(r"[<>=!~^]*\s*\d+\.\d+")
_TEMPLATE = lazy_pattern(r"[${}%`]|<<|\[\[")


def is_template(text: str) -> bool:
    """Whether a part of `text` is only known when something fills it in."""
    return _TEMPLATE.search(text) is not None


def read_pin(text: str, start: int, notation: Notation = "pip", group: str = "", *, hashed: bool = False) -> Pin | None:
    """The requirement that `text`, which stands at `start`, is; None if it is none.

    The address or path of a wheel is one. The build in a match specification of conda is left out.
    """
    match = _NAME.match(text)
    named = match is not None and text.startswith("@", match.end())
    wheel = _WHEEL.search(text.partition(";")[0].partition("#")[0]) if ".whl" in text.lower() else None
    if match is not None and (named or wheel is None):
        name, begin = match[1].rpartition("::")[2], match.start(1)
    elif wheel is not None:
        name, begin = wheel[1], len(text) - len(text.lstrip())
    else:
        return None
    if not named and wheel is None and "://" in text.partition("@")[0]:
        return None
    end = max(len(text.rstrip()), match.end(1) if match else 0)
    span = Span(start + begin, start + end)
    pin = Pin(
        _plain(name), text[begin:end], span, notation=notation, group=group, conditional=";" in text, hashed=hashed
    )
    if named or wheel is not None or match is None:
        return replace(pin, opaque=True, file=_version(wheel) if wheel else "")
    keyword = _KEYWORD.search(match[2]) if notation == "conda" and match[2] else None
    if keyword is not None and keyword.lastindex is not None:
        begin, end = (match.start(2) + offset for offset in keyword.span(keyword.lastindex))
    else:
        begin, end = match.end(), len(text.partition(";")[0])
    filled_in = _LOCAL_TEMPLATE.search(text, begin, end) if notation == "pip" else None
    if filled_in is None and notation == "pip" and _TWO_NUMBERS.match(text, begin, end):
        filled_in = _REST_TEMPLATE.search(text, begin, end)
    versions = _read_versions(text[begin : filled_in.start() if filled_in else end], start + begin, notation)
    if versions.build is not None:
        span = Span(span.start, start + begin + versions.build)
    opaque = versions.opaque or keyword is not None or is_template(text)
    return replace(pin, span=span, alternatives=versions.alternatives, opaque=opaque, unread=versions.unread)


def read_versions(name: str, text: str, start: int, notation: Notation = "poetry", group: str = "") -> Pin:
    """The requirement of a package whose versions stand alone, as in Poetry's tables."""
    versions = _read_versions(text, start, notation)
    opaque = versions.opaque or is_template(text)
    span = Span(start, start + len(text))
    return Pin(_plain(name), text, span, versions.alternatives, notation, group, opaque=opaque, unread=versions.unread)


@dataclass(frozen=True)
class _Versions:
    """The version part of a requirement; `build` is where that of conda begins."""

    alternatives: tuple[tuple[Clause, ...], ...]
    unread: str = ""
    build: int | None = None

    @property
    def opaque(self) -> bool:
        return len(self.alternatives) != 1 or self.build is not None


def _read_versions(text: str, start: int, notation: Notation) -> _Versions:
    position, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if text.startswith("(", position) and text.endswith(")", 0, end):
        position, end = position + 1, end - 1
    found: list[list[Clause]] = [[]]
    separator = _AND if notation == "pip" else _AND_OR
    while position < end:
        match = _CLAUSE.match(text, position, end)
        if match is None or (notation == "pip" and match[1] in _NOT_OF_PIP):
            part = _UNREAD.match(text, position, end)
            return _Versions((), part[0] if part else "")
        found[-1].append(Clause(match[1], match[2], Span(start + match.start(2), start + match.end(2))))
        position = match.end()
        between = separator.match(text, position, end)
        if between is not None:
            position = between.end()
            if "|" in between[0]:
                found.append([])
        elif position < end and notation == "conda" and (text[position] == "=" or text[position - 1].isspace()):
            return _Versions(_tuples(found), build=match.end(2))
        elif position < end and (notation != "poetry" or not text[position - 1].isspace()):
            return _Versions((), text[position:end])
    return _Versions(_tuples(found))


def _tuples(found: list[list[Clause]]) -> tuple[tuple[Clause, ...], ...]:
    return tuple(tuple(choice) for choice in found)


def _version(wheel: re.Match[str]) -> str:
    from urllib.parse import unquote

    return unquote(wheel[2])


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
