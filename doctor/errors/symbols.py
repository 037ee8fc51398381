"""Of which library a C++ symbol is, as far as its name tells."""

from __future__ import annotations

import re

_HEAD = re.compile(r"_Z(?:T[ISV])?(?:N(?:[VK]|St)?)?(\d{1,3})")


def owner(symbol: str) -> str:
    """The outermost namespace or class of a name as compilers write it (Itanium C++ ABI, 5.1), or the function itself where it has none; empty for other names."""
    head = _HEAD.match(symbol)
    return symbol[head.end() :][: int(head[1])] if head else ""
