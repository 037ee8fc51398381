"""`re.compile`, which compiles when the pattern is first used.

The modules of a run hold some three hundred patterns. To compile them all was a fifth of the time that a small project takes,
and most of them meet no text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

__all__ = ["lazy_pattern"]

if TYPE_CHECKING:
    from re import compile as lazy_pattern
else:

    class lazy_pattern:
        """A pattern with the methods and attributes of the compiled one.

        Raises:
            re.error: the pattern is wrong; on its first use, so that tests compile all of them.
        """

        def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
            self._written = pattern, flags

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            compiled = re.compile(*self._written)
            # From now on they are found without coming here.
            self.__dict__.update((known, getattr(compiled, known)) for known in _KNOWN)
            return getattr(compiled, name)


_KNOWN = tuple(name for name in dir(re.Pattern) if not name.startswith("_"))
