"""Who looks for names in files, and what is told of a name that was seen."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal, NamedTuple

from torchlift.lazy_dataclass import dataclass
from torchlift.search.vocabulary import encoded


@dataclass(frozen=True, slots=True)
class Sighting:
    """A name that may be a target, seen in the bytes of a file.

    Attributes:
        target: the target that it would be a use of.
        kind: `import`, `call`, or `other` for anything else.
        call: for a call its arguments; the call stands in no module, so nothing else is known of it.
    """

    target: str
    kind: Literal["import", "call", "other"]
    call: ast.Call | None = None


class Wanted(NamedTuple):
    """What somebody looks for.

    Attributes:
        targets: qualified names; `*.name` is the attribute `name` of any value.
        test: whether a sighting matters; all do unless given.
    """

    targets: Collection[str]
    test: Callable[[Sighting], bool] | None = None


class Party:
    """Some who look for names together: a use is of the longest target of them all, and one of them is enough.

    Args:
        wanted: what each of them looks for, by name.
    """

    def __init__(self, wanted: Mapping[str, Wanted]) -> None:
        self.askers: dict[str, list[tuple[str, Wanted]]] = {}
        for name, one in wanted.items():
            for target in one.targets:
                self.askers.setdefault(target, []).append((name, one))
        self._wanted = wanted
        self._words: dict[str, frozenset[bytes]] = {}
        self._texts: dict[str, tuple[bytes, ...]] = {}

    def words(self, names: Iterable[str]) -> frozenset[bytes]:
        """Last words of the targets of those in `names`: one of them stands in every file that uses a target."""
        return frozenset().union(*map(self._words_of, names))

    def _words_of(self, name: str) -> frozenset[bytes]:
        if name not in self._words:
            targets = self._wanted[name].targets
            self._words[name] = frozenset(encoded(target.rpartition(".")[2]) for target in targets)
        return self._words[name]

    def has_text(self, names: Iterable[str], data: bytes) -> bool:
        """Whether a target that is no name stands in `data`."""
        return any(text in data for name in names for text in self._texts_of(name))

    def _texts_of(self, name: str) -> tuple[bytes, ...]:
        """Those that are no dotted names: they stand in strings."""
        if name not in self._texts:
            targets = self._wanted[name].targets
            odd = (target for target in targets if not target.removeprefix("*.").replace(".", "_").isidentifier())
            self._texts[name] = tuple(map(encoded, odd))
        return self._texts[name]
