"""Which of many changes of one file can be carried out together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from torchlift.finding import AddImport, EditImport, Rewrite, TextEdit
from torchlift.lazy_dataclass import dataclass

Build = Callable[[Sequence[Rewrite]], list[TextEdit]]
Wish = tuple[Rewrite, ...]


@dataclass(frozen=True)
class Agreement:
    """What came of the wishes for one file.

    Attributes:
        rewrites: those of all wishes that can be carried out, in their order.
        edits: what carries them out.
        refused: why the others cannot be, by their index.
    """

    rewrites: tuple[Rewrite, ...]
    edits: tuple[TextEdit, ...]
    refused: Mapping[int, Exception]


def agree(wishes: Sequence[Wish], build: Build) -> Agreement:
    """Take every wish, in order, that can be carried out with those taken before.

    Wishes that have no code in common are tried together, and apart only if that fails, so most files are built once. Findings
    that share a fix wish the same, which is looked at once.
    """
    distinct = list({id(wish): wish for wish in wishes}.values())
    if len(distinct) == len(wishes):
        return _agreed(wishes, build)
    agreed = _agreed(distinct, build)
    place = {id(wish): index for index, wish in enumerate(distinct)}
    refused = {index: error for index, wish in enumerate(wishes) if (error := agreed.refused.get(place[id(wish)]))}
    rewrites = chain.from_iterable(wish for index, wish in enumerate(wishes) if index not in refused)
    return Agreement(tuple(rewrites), agreed.edits, refused)


def _agreed(wishes: Sequence[Wish], build: Build) -> Agreement:
    refused: dict[int, Exception] = {}
    overlapping = _overlapping(wishes)
    for members in overlapping:
        refused.update(_one_by_one(members, wishes, build))
    search = _Search(wishes, build)
    search.take([index for index in range(len(wishes)) if index not in refused])
    if not search.refused.keys().isdisjoint(index for members in overlapping for index in members):
        # One that stood in the way of others goes itself, because of an import that it brings: they may stay then.
        search, refused = _Search(wishes, build), _one_by_one(range(len(wishes)), wishes, build)
        search.take([index for index in range(len(wishes)) if index not in refused])
    rewrites = search.rewrites(search.taken)
    return Agreement(rewrites, tuple(search.edits), {**refused, **search.refused})


def _one_by_one(members: Sequence[int], wishes: Sequence[Wish], build: Build) -> dict[int, Exception]:
    taken: list[Rewrite] = []
    refused: dict[int, Exception] = {}
    whole: set[Wish] = set()
    for index in members:
        wish = wishes[index]
        if wish in whole:
            continue  # as several operands of one condition have it: it asks for nothing more
        try:
            build([*taken, *wish])
            taken += wish
            whole.add(wish)
        except Exception as error:
            refused[index] = error
    return refused


class _Search:
    """Finds those among many wishes that contradict others, by halves.

    That is right where a part of what can be built can be built, too: one change must not hide that another is impossible.
    Only one that has code in common with the other could.
    """

    def __init__(self, wishes: Sequence[Wish], build: Build) -> None:
        self.wishes = wishes
        self.build = build
        self.taken: list[int] = []
        self.edits: list[TextEdit] = []
        self.refused: dict[int, Exception] = {}

    def rewrites(self, indices: Sequence[int]) -> tuple[Rewrite, ...]:
        return tuple(rewrite for index in indices for rewrite in self.wishes[index])

    def take(self, indices: Sequence[int]) -> None:
        if not indices:
            return
        try:
            self.edits = self.build(self.rewrites([*self.taken, *indices]))
            self.taken += indices
        except Exception as error:
            if len(indices) == 1:
                self.refused[indices[0]] = error
                return
            half = len(indices) // 2
            self.take(indices[:half])
            self.take(indices[half:])


def _overlapping(wishes: Sequence[Wish]) -> list[list[int]]:
    """Wishes that touch common code, directly or through others; imports, which many share, do not count."""
    areas = sorted(
        (rewrite.span.start, rewrite.span.end, index)
        for index, wish in enumerate(wishes)
        for rewrite in wish
        if not isinstance(rewrite, (AddImport, EditImport))
    )
    leader = list(range(len(wishes)))

    def first(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    reach, last = -1, 0
    for start, end, index in areas:
        if start <= reach:
            one, other = sorted((first(last), first(index)))
            leader[other] = one
        if end > reach:
            reach, last = end, index
    groups: dict[int, list[int]] = {}
    for index in range(len(wishes)):
        groups.setdefault(first(index), []).append(index)
    return [members for members in groups.values() if len(members) > 1]
