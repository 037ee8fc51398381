"""Which files can matter at all, decided on their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set

from torchlift.vocabulary import WORD, Needle, stands_in, vocabulary, words_in

# Words of nearly every file: to ask all triggers with one of them would cost more than to take the file apart.
_EVERYWHERE = frozenset((b"torch", b"import", b"from", b"as", b"nn", b"distributed", b"functional", b"utils"))


class GroupedPrefilter:
    """Finds which of several groups of triggers a file has one of.

    A trigger is a word, or text between word boundaries. `upsample & functional` matches where both stand. What follows the
    `&` may stand within a word where it is nothing but a word; otherwise only its last word may go on.

    Taking a file apart into words costs the same for ten triggers and ten thousand; a pattern of all of them does not.

    Args:
        groups: triggers by the name of their group.
        words: further words that `read` tells about.
    """

    def __init__(self, groups: Mapping[str, Iterable[str]], words: Iterable[bytes] = ()) -> None:
        self._triggers: dict[bytes, list[_Trigger]] = {}
        for name, triggers in groups.items():
            for text in sorted(set(triggers)):
                trigger = _Trigger(text, name)
                self._triggers.setdefault(trigger.word, []).append(trigger)
        asked = (word for triggers in self._triggers.values() for trigger in triggers for word in trigger.needed)
        self._words = frozenset((*self._triggers, *asked, *words))

    def read(self, data: bytes) -> Words:
        """What there is to know about the words of `data`, for `found_among` of this and of prefilters that know less."""
        words = words_in(data)
        return Words(data, self._words & words, words)

    def found(self, data: bytes) -> frozenset[str]:
        """The groups that have a trigger in `data`."""
        return self.found_among(self.read(data))

    def found_among(self, words: Words) -> frozenset[str]:
        """The groups that have a trigger in a file."""
        names: set[str] = set()
        present = words.present
        for word in present & self._triggers.keys():
            for trigger in self._triggers[word]:
                if trigger.group not in names and trigger.needed <= present and trigger.is_in(words):
                    names.add(trigger.group)
        return frozenset(names)


class Words:
    """The words of a file that somebody asked about.

    Attributes:
        data: the bytes of the file.
        present: those words that stand in it.
        vocabulary: all its words.
    """

    def __init__(self, data: bytes, present: frozenset[bytes], words: Set[bytes]) -> None:
        self.data = data
        self.present = present
        self.vocabulary = vocabulary(words)
        self._held: dict[bytes, bool] = {b"": True}

    def hold(self, needle: Needle) -> bool:
        """Whether a text stands anywhere in the file: hundreds of triggers ask for the same few texts."""
        text = needle.text
        held = self._held.get(text)
        if held is None:
            held = all(word in self.vocabulary for word in needle.words) and (needle.is_word or text in self.data)
            self._held[text] = held
        return held


class Prefilter:
    """Finds the triggers of rules in the raw bytes of a file. Triggers are those of `GroupedPrefilter`."""

    def __init__(self, triggers: Iterable[str]) -> None:
        self._grouped = GroupedPrefilter({"any": triggers})

    def matches(self, data: bytes) -> bool:
        """Whether `data` holds one of the triggers."""
        return bool(self._grouped.found(data))


class _Trigger:
    """A trigger: `word` and all that is `needed` have to be words of the file before it is asked."""

    def __init__(self, text: str, group: str) -> None:
        self.group = group
        first, _, companion = text.partition(" & ")
        words = re.findall(rb"\w+", first.encode())
        # Without any word in it, it would never be asked.
        assert words, text
        self.word = max(words, key=lambda word: (word not in _EVERYWHERE, len(word)))
        self._companion = Needle(companion.encode())
        self.needed = frozenset(words) | _whole_words(self._companion.text)
        self._text = None if words == [first.encode()] else first.encode()

    def is_in(self, words: Words) -> bool:
        """Whether the whole trigger stands in a file, of which `word` is a word."""
        return words.hold(self._companion) and (self._text is None or stands_in(self._text, words.data))


def _whole_words(companion: bytes) -> frozenset[bytes]:
    """Words of a companion that are words of the file. One alone may be part of a word, and so may the last, at its end."""
    words: list[bytes] = re.findall(rb"\w+", companion)
    whole = words if companion[-1:] not in WORD else words[:-1]
    return frozenset(whole)
