"""Names that may decorate something somewhere in a project, told from bytes.

Most variables that a module makes by a call are loggers: who uses them need not be searched for to know that they register nothing.
What stands here may be no decorator; what decorates, directly or under another name, stands here.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.search.vocabulary import encoded, words_in

_TOKEN = lazy_pattern(
    rb"""'''[\s\S]*?'''|\"\"\"[\s\S]*?\"\"\"|'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"|\\\r?\n|#[^\n]*|[()\[\]{}\n]"""
)
_AS = lazy_pattern(rb"as[\s\\]")
_BLANK = b" \t\f\r\n\\"
_LAST_WORD = lazy_pattern(rb"\w+\Z")
_FIRST_WORD = lazy_pattern(rb"[\s\\]*(\w+)")
_LONGEST = 200
_Named = tuple[frozenset[bytes], frozenset[tuple[bytes, bytes]]]
"""Words of decorators, and names with those that they are imported under."""


def may_decorate(project: Project, name: str) -> bool:
    """Whether a variable of a module may stand in a decorator, in any file."""
    return not name.isascii() or encoded(name) in project.once(_decorating)


def _decorating(project: Project) -> frozenset[bytes]:
    facts = project.noted(_named).values()
    found: set[bytes] = set().union(*(words for words, _ in facts))
    pairs: set[tuple[bytes, bytes]] = set().union(*(some for _, some in facts))
    while new := {name for name, other in pairs if other in found} - found:
        found |= new
    return frozenset(found)


def _named(path: str, data: bytes) -> _Named:
    words: set[bytes] = set().union(*map(words_in, _decorators(data)))
    return frozenset(words), frozenset(_renamed(data))


def _renamed(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    for found in _AS.finditer(data):
        start = found.start()
        if start and data[start - 1] in _BLANK:
            name = _LAST_WORD.search(data[max(0, start - _LONGEST) : start].rstrip(_BLANK))
            other = _FIRST_WORD.match(data, found.end() - 1)
            if name is not None and other is not None:
                yield name[0], other[1]


def _decorators(data: bytes) -> Iterator[bytes]:
    """What stands behind an `@` at the beginning of a line, to the end of the line behind what is in brackets."""
    at = data.find(b"@")
    while at >= 0:
        end = at + 1
        if not data[data.rfind(b"\n", 0, at) + 1 : at].strip():
            end = _end(data, end)
            yield data[at:end]
        at = data.find(b"@", end)


def _end(data: bytes, start: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(data, start):
        first = token[0][:1]
        if first == b"\n" and depth <= 0:
            return token.start()
        depth += (first in b"([{") - (first in b")]}")
    return len(data)
