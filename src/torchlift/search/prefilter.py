"""Which files can matter at all, decided on their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from functools import cached_property

from torchlift.search.vocabulary import WORD, stands_in, words_in

# Words of nearly every file: to ask all triggers with one of them would cost more than to take the file apart.
_EVERYWHERE = frozenset((b"torch", b"import", b"from", b"as", b"nn", b"distributed", b"functional", b"utils"))


class GroupedPrefilter:
    """Finds which of several groups of triggers a file has one of.

    A trigger is a word, or text between word boundaries. `upsample & functional` matches where both stand. What follows the
    `&` may stand within a word where it is nothing but a word; otherwise only its last word may go on.

    Taking a file apart into words costs the same for ten triggers and ten thousand; a pattern of all of them does not.

    Args:
        groups: triggers by the name of their group.
    """

    def __init__(self, groups: Mapping[str, Iterable[str]]) -> None:
        asked: dict[bytes, list[str]] = {}
        for name, triggers in groups.items():
            for text in triggers:
                asked.setdefault(_word(text), []).append(f"{text}\t{name}")
        # One text for each word: it is sooner read from where it is kept than all triggers are, few of which are needed.
        self._asked = {word: "\n".join(some) for word, some in asked.items()}
        self._triggers: dict[bytes, tuple[_Trigger, ...]] = {}

    @cached_property
    def words(self) -> frozenset[bytes]:
        """All words that it has to know of."""
        texts = {line.partition("\t")[0] for lines in self._asked.values() for line in lines.split("\n")}
        return frozenset(re.findall(rb"\w+", "\n".join(texts).encode()))

    def found(self, data: bytes) -> frozenset[str]:
        """The groups that have a trigger in `data`."""
        return self.found_among(Words(data, words_in(data, self.words)))

    def found_among(self, words: Words) -> frozenset[str]:
        """The groups that have a trigger in a file."""
        names: set[str] = set()
        present = words.present
        for word in self._asked.keys() & present:
            for group, needed, companion, text in self._of(word):
                if (
                    group not in names
                    and needed <= present
                    and words.hold(companion)
                    and (text is None or words.have(text))
                ):
                    names.add(group)
        return frozenset(names)

    def _of(self, word: bytes) -> tuple[_Trigger, ...]:
        """Triggers that are asked about files with a word; most words are in no file of a project."""
        known = self._triggers.get(word)
        if known is None:
            asked = (line.partition("\t") for line in self._asked[word].split("\n"))
            known = self._triggers[word] = tuple(_trigger(text, group) for text, _, group in asked)
        return known


class Words:
    """The words of a file.

    Attributes:
        data: the bytes of the file.
        present: its words, or those of them that matter.
    """

    def __init__(self, data: bytes, present: Set[bytes]) -> None:
        self.data = data
        self.present = present
        self._held: dict[bytes, bool] = {b"": True}
        self._standing: dict[bytes, bool] = {}

    def hold(self, text: bytes) -> bool:
        """Whether `text` stands anywhere in the file: hundreds of triggers ask for the same few texts."""
        held = self._held.get(text)
        if held is None:
            held = self._held[text] = text in self.present or text in self._lines_for(text)
        return held

    def have(self, text: bytes) -> bool:
        """Whether `text` stands in the file and neither continues a word nor is continued by one."""
        standing = self._standing.get(text)
        if standing is None:
            standing = self._standing[text] = stands_in(text, self._lines_for(text))
        return standing

    def _lines_for(self, text: bytes) -> bytes:
        return self._imports if b"import" in text else self.data

    @cached_property
    def _imports(self) -> bytes:
        """The lines with `import`: many triggers are parts of such a line, and there are few."""
        data = self.data
        lines = []
        at = data.find(b"import")
        while at >= 0:
            end = data.find(b"\n", at)
            end = end if end >= 0 else len(data)
            lines.append(data[data.rfind(b"\n", 0, at) + 1 : end])
            at = data.find(b"import", end)
        return b"\n".join(lines)


class Prefilter:
    """Finds the triggers of rules in the raw bytes of a file. Triggers are those of `GroupedPrefilter`."""

    def __init__(self, triggers: Iterable[str]) -> None:
        self._grouped = GroupedPrefilter({"any": triggers})

    def matches(self, data: bytes) -> bool:
        """Whether `data` holds one of the triggers."""
        return bool(self._grouped.found(data))


_Trigger = tuple[str, frozenset[bytes], bytes, bytes | None]
"""The group of a trigger, words that have to be in the file, its companion, and the rest of it if it is no single word."""


def _word(trigger: str) -> bytes:
    """The word of a trigger without which it is not asked."""
    first = trigger.partition(" & ")[0]
    if first.isidentifier() and first.isascii():
        return first.encode()
    words: list[bytes] = re.findall(rb"\w+", first.encode())
    # Without any word in it, it would never be asked.
    assert words, trigger
    return max(words, key=lambda word: (word not in _EVERYWHERE, len(word)))


def _trigger(trigger: str, group: str) -> _Trigger:
    first, _, companion = trigger.encode().partition(b" & ")
    words = re.findall(rb"\w+", first)
    needed = frozenset(words) | _whole_words(companion)
    return group, needed, companion, None if words == [first] else first


def _whole_words(companion: bytes) -> frozenset[bytes]:
    """Words of a companion that are words of the file. One alone may be part of a word, and so may the last, at its end."""
    words: list[bytes] = re.findall(rb"\w+", companion)
    whole = words if companion[-1:] not in WORD else words[:-1]
    return frozenset(whole)
