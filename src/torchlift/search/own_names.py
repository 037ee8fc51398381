"""Whether a module surely defines a name itself, told from its bytes: most names of a project are classes and functions where they are
looked for, and a syntax tree of the whole file would say no more.

The answer errs on one side only: True means that `class` or `def` binds the name on the level of the module, that no import does, and that
no other name is assigned to it.
"""

from __future__ import annotations

import re

from torchlift.lazy_pattern import lazy_pattern
from torchlift.search.glance import LISTED, occurrences

_BEHIND_NAMES = frozenset((b"(", b":", b"[", b" "))
_ASSIGNED = lazy_pattern(rb"[\s\\)]*(?::[^\r\n=]*)?=(?!=)")
_MARK = lazy_pattern(rb"#|\"\"\"|'''|\"|'")
# Where a quote is not closed, its string ends with its line.
_LINE = {
    b"#": lazy_pattern(rb"[^\r\n]*"),
    b'"': lazy_pattern(rb"[^\"\\\r\n]*(?:\\(?:\r\n|.)[^\"\\\r\n]*)*[\"\r\n]", re.DOTALL),
    b"'": lazy_pattern(rb"[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*['\r\n]", re.DOTALL),
}


def surely_defines(data: bytes, name: bytes) -> bool:
    """Whether a module with these bytes surely defines a name."""
    place = _definition(data, name)
    if place is None or _is_in_string(data, place):
        return False
    places = list(occurrences(name, data))
    if any(_ASSIGNED.match(data, at + len(name)) and data[at - 1 : at] != b"." for at in places):
        return False
    return len(places) == 1 or not any(_lists(data, at + len(b"import"), name) for at in occurrences(b"import", data))


def _definition(data: bytes, name: bytes) -> int | None:
    """Where a line begins that defines a name, as it is usually written."""
    for keyword in (b"class ", b"def "):
        at = data.find(keyword + name)
        while at >= 0:
            end = at + len(keyword) + len(name)
            begins = at == 0 or (data[at - 1] in b"\r\n" and data[max(0, at - 9) : at].rstrip(b"\r\n")[-1:] != b"\\")
            if begins and data[end : end + 1] in _BEHIND_NAMES:
                return at
            at = data.find(keyword + name, at + 1)
    return None


def _lists(data: bytes, start: int, name: bytes) -> bool:
    """Whether a name stands in what is imported by the statement whose `import` ends at `start`."""
    listed = LISTED.match(data, start)
    return listed is None or name in listed[1]


def _is_in_string(data: bytes, place: int) -> bool:
    """Whether a place at the start of a line is in a string."""
    if data.find(b'"""', 0, place) < 0 and data.find(b"'''", 0, place) < 0:
        return False
    at = 0
    while (mark := _MARK.search(data, at, place)) is not None:
        quote = mark[0]
        if quote in _LINE:
            rest = _LINE[quote].match(data, mark.end())
            at = rest.end() if rest is not None else len(data)
        else:
            at = _closed(data, quote, mark.end())
        if at > place:
            return True
    return False


def _closed(data: bytes, quote: bytes, start: int) -> int:
    """Where a string ends that began with three quotes; behind the file if it never does."""
    while (at := data.find(quote, start)) >= 0:
        before = data[start:at]
        if (len(before) - len(before.rstrip(b"\\"))) % 2 == 0:
            return at + len(quote)
        start = at + 1
    return len(data) + 1
