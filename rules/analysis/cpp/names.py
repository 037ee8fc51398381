"""Qualified names of torch in a C++ file, through `namespace F = ...` and `using namespace ...`.

No scope is read: what one part of a file declares counts for all of it. A name without any `::` is left out, but for macros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span

ROOTS = frozenset({"torch", "at", "c10", "c10d", "torch_tensorrt"})
"""Namespaces that torch's headers open."""
_CHAIN = lazy_pattern(r"(?<![\w.>:])(?:::\s*)?([A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)+)")
_ALIAS = lazy_pattern(r"\bnamespace\s+(\w+)\s*=\s*(?:::\s*)?([\w:]+)\s*;")
_USING = lazy_pattern(r"\busing\s+namespace\s+(?:::\s*)?([\w:]+)\s*;")
_OPENED = lazy_pattern(r"\bnamespace\s+(torch|at|c10)(?:\s*::\s*\w+)*\s*\{")
# What `namespace torch` and `namespace at` take over from others.
_OUTER = {"torch": ("torch", "at", "c10"), "at": ("at", "c10")}


@dataclass(frozen=True)
class CppName:
    """One qualified name.

    Attributes:
        spellings: the names of torch that it may be, in full; the first is the one it is written as.
        span: where it stands.
    """

    spellings: tuple[str, ...]
    span: Span


def names_in(code: str) -> Iterator[CppName]:
    """Every qualified name in `code` that may be torch's, in order."""
    aliases = dict(_ALIAS.findall(code))
    spaces = [*dict.fromkeys((*_USING.findall(code), *_OPENED.findall(code)))]
    roots = [space for space in spaces if space.partition("::")[0] in ROOTS]
    for match in _CHAIN.finditer(code):
        name = re.sub(r"\s", "", match[1])
        first, _, rest = name.partition("::")
        if first == "namespace":  # `using namespace ::torch`
            continue
        if first in ROOTS:
            written = [name]
        elif first in aliases:
            whole = f"{aliases[first]}::{rest}"
            written = [whole] if whole.partition("::")[0] in ROOTS else []
        elif first == "std":
            written = []
        else:
            written = [f"{space}::{name}" for space in roots]
        if written:
            yield CppName(
                tuple(dict.fromkeys(full for one in written for full in _everywhere(one))),
                Span(match.start(1), match.end(1)),
            )


def _everywhere(name: str) -> Iterator[str]:
    root, _, rest = name.partition("::")
    yield from (f"{outer}::{rest}" for outer in _OUTER.get(root, (root,)))
