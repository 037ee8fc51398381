"""Which files can matter at all, decided on their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any


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
        # A tree of prefixes is several times faster than a list of alternatives, and so is looking at the character in
        # front of a hit here and not in the pattern.
        self._find = re.compile(_prefix_tree(self._companions) + rb"\b").finditer if self._companions else None

    def matches(self, data: bytes) -> bool:
        """Whether `data` holds one of the triggers."""
        if self._find is None:
            return False
        missing: set[bytes] = set()
        for match in self._find(data):
            word, start = match.group(), match.start()
            if word not in missing and (start == 0 or not _is_word(data[start - 1])):
                if any(companion in data for companion in self._companions[word]):
                    return True
                missing.add(word)
        return False


class GroupedPrefilter:
    """Finds, in one pass, which of several groups of triggers a file has one of.

    Args:
        groups: triggers by the name of their group, as `Prefilter` takes them.
        enough: the group whose first trigger ends the search.
    """

    def __init__(self, groups: Mapping[str, Iterable[str]], enough: str) -> None:
        self._enough = enough
        self._companions: dict[bytes, list[tuple[bytes, str]]] = {}
        for name, triggers in groups.items():
            for trigger in sorted(set(triggers)):
                word, _, companion = trigger.partition(" & ")
                self._companions.setdefault(word.encode(), []).append((companion.encode(), name))
        for pairs in self._companions.values():
            pairs.sort(key=lambda pair: pair[1] != enough)
        self._find = re.compile(_prefix_tree(self._companions) + rb"\b").finditer if self._companions else None

    def found(self, data: bytes) -> frozenset[str]:
        """The groups that have a trigger in `data`; only the one that is enough, if it has."""
        if self._find is None:
            return frozenset()
        seen: set[bytes] = set()
        names: set[str] = set()
        for match in self._find(data):
            word, start = match.group(), match.start()
            if word not in seen and (start == 0 or not _is_word(data[start - 1])):
                seen.add(word)
                for companion, name in self._companions[word]:
                    if name not in names and companion in data:
                        if name == self._enough:
                            return frozenset((name,))
                        names.add(name)
        return frozenset(names)


def _is_word(byte: int) -> bool:
    return byte == 95 or 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122


def _prefix_tree(words: Iterable[bytes]) -> bytes:
    """A pattern that matches any of `words`, longest first, with common beginnings written once."""
    tree: dict[bytes, Any] = {}
    for word in words:
        node = tree
        for index in range(len(word)):
            node = node.setdefault(word[index : index + 1], {})
        node[b""] = {}
    return _pattern(tree)


def _pattern(node: Mapping[bytes, Any]) -> bytes:
    branches = [re.escape(letter) + _pattern(node[letter]) for letter in sorted(node) if letter]
    if not branches:
        return b""
    pattern = branches[0] if len(branches) == 1 else b"(?:" + b"|".join(branches) + b")"
    return b"(?:" + pattern + b")?" if b"" in node else pattern
