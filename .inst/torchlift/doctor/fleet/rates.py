"""Ranks whose GPU is slower at the same work than those of the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from torchlift.doctor.facts import Facts
from torchlift.doctor.fleet.aspects import Aspect, gpu_kinds
from torchlift.doctor.fleet.differences import Deviation
from torchlift.doctor.fleet.record import Record

SLOW = 0.8
"""Share of the median of all GPUs of a kind below which one is slow: a job waits for it at every step."""

_FEWEST = 3


def slow_ranks(records: Sequence[Record], facts: Mapping[str, Facts]) -> tuple[Deviation, ...]:
    """What smokes measured as a rate, compared between GPUs of the same models; `facts` by the name of the machine.

    Two GPUs that differ say nothing about which of them is slow: it takes three.
    """
    groups: dict[tuple[str, frozenset[str]], list[tuple[Record, str, float]]] = defaultdict(list)
    for record in records:
        kinds = gpu_kinds(facts[record.node]) if record.node in facts else frozenset()
        for smoke in record.smokes:
            device = str(smoke.get("device"))
            if device != "cpu" and smoke.get("outcome") == "pass":
                for name, rate in _rates(smoke):
                    groups[name, kinds].append((record, device, rate))
    return tuple(_deviation(name, group) for (name, _), group in groups.items() if _has_slow(group))


def _rates(smoke: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    details = smoke.get("details") or {}
    found = {"": details, **{f", {key}": value for key, value in details.items() if isinstance(value, dict)}}
    for part, value in found.items():
        rate = value.get("rate")
        if isinstance(rate, (int, float)) and rate > 0:
            yield f"{smoke.get('id')}{part}", float(rate)


def _has_slow(group: Sequence[tuple[Record, str, float]]) -> bool:
    usual = median(rate for _, _, rate in group)
    return len(group) >= _FEWEST and any(rate < SLOW * usual for _, _, rate in group)


def _deviation(name: str, group: Sequence[tuple[Record, str, float]]) -> Deviation:
    usual = median(rate for _, _, rate in group)
    slow = sorted((each for each in group if each[2] < SLOW * usual), key=lambda each: each[2])
    aspect = Aspect(f"rate-{name}", f"the rate of {name}", lambda facts: None)
    usually = dict.fromkeys(record.node for record, _, rate in group if rate >= SLOW * usual)
    others = tuple((_slow(record, device, rate / usual), (record.node,)) for record, device, rate in slow)
    return Deviation(aspect, f"about {usual:.3g} a second", tuple(usually), others)


def _slow(record: Record, device: str, share: float) -> str:
    rank = "" if record.rank is None else f"rank {record.rank}, "
    return f"{share:.0%} of the others' ({rank}{device})"
