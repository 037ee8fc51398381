"""Where machines differ from the majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from torchlift.doctor.facts import Facts
from torchlift.doctor.fleet.aspects import ASPECTS, Aspect, gpu_kinds
from torchlift.lazy_dataclass import dataclass

UNKNOWN = "unknown"
"""Stands for a value that a machine's facts lack."""


@dataclass(frozen=True)
class Deviation:
    """An aspect that is not the same everywhere.

    Attributes:
        aspect: what differs.
        majority: the value that most machines have; None when none is in the majority.
        machines: the names of those that have it.
        others: every other value with the names of its machines, the most common first.
    """

    aspect: Aspect
    majority: str | None
    machines: tuple[str, ...]
    others: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def deviating(self) -> tuple[str, ...]:
        """The machines to look at: all but the majority, or all when there is none."""
        return tuple(name for _, names in self.others for name in names)


def differences(machines: Sequence[tuple[str, Facts]], aspects: Sequence[Aspect] = ASPECTS) -> tuple[Deviation, ...]:
    """How machines differ, aspect by aspect.

    A majority is more than half of all machines: two machines that differ accuse each other. A machine whose facts lack
    a value that others have counts as having an unknown one. Machines with other models of GPU are not compared in what
    belongs to the model.
    """
    found = []
    for aspect in aspects:
        for group in _comparable(machines, aspect):
            difference = _difference(group, aspect)
            if difference is not None:
                found.append(difference)
    return tuple(found)


def _comparable(machines: Sequence[tuple[str, Facts]], aspect: Aspect) -> list[list[tuple[str, Facts]]]:
    if not aspect.of_gpus:
        return [list(machines)]
    groups: dict[frozenset[str], list[tuple[str, Facts]]] = {}
    for name, facts in machines:
        groups.setdefault(gpu_kinds(facts), []).append((name, facts))
    return list(groups.values())


def _difference(machines: Sequence[tuple[str, Facts]], aspect: Aspect) -> Deviation | None:
    values = [(name, aspect.read(facts)) for name, facts in machines]
    if all(value is None for _, value in values):
        return None
    named = [(name, UNKNOWN if value is None else value) for name, value in values]
    counted = Counter(value for _, value in named)
    if len(counted) == 1:
        return None
    top, count = min(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    majority = top if 2 * count > len(named) and top != UNKNOWN else None
    rest = sorted((-count, value) for value, count in counted.items() if value != majority)
    return Deviation(
        aspect,
        majority,
        tuple(name for name, value in named if value == majority),
        tuple((value, tuple(name for name, other in named if other == value)) for _, value in rest),
    )
