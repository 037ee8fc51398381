"""Which files can matter at all, decided on their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable


class Prefilter:
    """Finds the trigger words of rules in the raw bytes of a file; whole words only."""

    def __init__(self, words: Iterable[str]) -> None:
        # Longest first, so that the alternation is independent of the order of the rules.
        unique = sorted(set(words), key=lambda word: (-len(word), word))
        alternatives = b"|".join(re.escape(word.encode()) for word in unique)
        self._search = re.compile(rb"\b(?:" + alternatives + rb")\b").search if unique else None

    def matches(self, data: bytes) -> bool:
        """Whether `data` holds one of the words."""
        return self._search is not None and self._search(data) is not None
