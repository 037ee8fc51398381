"""Which files can matter at all, decided on their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable


class Prefilter:
    """Finds the triggers of rules in the raw bytes of a file.

    A trigger is a word, or text between word boundaries. `upsample & functional` matches where both stand; the first
    one is searched, so it should be the rarer one.
    """

    def __init__(self, triggers: Iterable[str]) -> None:
        self._companions: dict[bytes, list[bytes]] = {}
        for trigger in sorted(set(triggers)):
            word, _, companion = trigger.partition(" & ")
            self._companions.setdefault(word.encode(), []).append(companion.encode())
        # Longest first, so that the alternation is independent of the order of the rules.
        words = sorted(self._companions, key=lambda word: (-len(word), word))
        pattern = rb"\b(?:" + b"|".join(map(re.escape, words)) + rb")\b"
        self._find = re.compile(pattern).finditer if words else None

    def matches(self, data: bytes) -> bool:
        """Whether `data` holds one of the triggers."""
        if self._find is None:
            return False
        missing: set[bytes] = set()
        for match in self._find(data):
            word = match.group()
            if word not in missing:
                if any(companion in data for companion in self._companions[word]):
                    return True
                missing.add(word)
        return False
