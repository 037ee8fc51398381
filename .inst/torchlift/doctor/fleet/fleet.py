"""The machines of a job together, and what that amounts to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Literal

from torchlift.doctor.examination import Examination
from torchlift.doctor.facts import Facts
from torchlift.doctor.fleet.differences import Deviation, differences
from torchlift.doctor.fleet.exchange import Collective
from torchlift.doctor.fleet.rates import slow_ranks
from torchlift.doctor.fleet.record import Record
from torchlift.lazy_dataclass import dataclass

_BAD = frozenset({"fail", "timeout", "crash", "stuck", "lost"})


@dataclass(frozen=True)
class FleetMember:
    """One machine: its ranks (none when its facts came as a file), its examination, what its ranks tried."""

    name: str
    ranks: tuple[int, ...]
    examination: Examination | None
    smokes: tuple[tuple[int | None, Mapping[str, Any]], ...] = ()
    error: str | None = None

    @property
    def failed_smokes(self) -> list[tuple[int | None, Mapping[str, Any]]]:
        """The smokes that did not pass, and were not skipped."""
        return [(rank, smoke) for rank, smoke in self.smokes if smoke.get("outcome") in _BAD]

    @property
    def is_bad(self) -> bool:
        """Whether the machine, taken alone, is not fit for work."""
        unfit = self.examination is None or self.examination.health != "healthy"
        return unfit or bool(self.failed_smokes)


@dataclass(frozen=True)
class Fleet:
    """All machines.

    Attributes:
        differences: aspects that are not the same everywhere.
        missing: ranks that did not answer, with the reason.
        collectives: all_reduce over all ranks.
        skipped_collectives: why there was none, None when there was or none was due.
        error: what cut the exchange short.
        strict: differences that may break jobs count as problems.
    """

    machines: tuple[FleetMember, ...]
    differences: tuple[Deviation, ...]
    missing: Mapping[int, str] = field(default_factory=dict)
    collectives: tuple[Collective, ...] = ()
    skipped_collectives: str | None = None
    error: str | None = None
    strict: bool = False

    @property
    def serious_differences(self) -> list[Deviation]:
        """Those that break or slow jobs."""
        return [difference for difference in self.differences if difference.aspect.weight == "warning"]

    @property
    def health(self) -> Literal["healthy", "problems"]:
        """Problems: a machine that is unfit, a rank that is missing, a collective that failed; with `strict` differences."""
        failed = any(collective.failed for collective in self.collectives)
        bad = self.missing or failed or self.error or any(machine.is_bad for machine in self.machines)
        return "problems" if bad or (self.strict and self.serious_differences) else "healthy"

    @property
    def exit_code(self) -> int:
        """0 healthy, 1 problems."""
        return 1 if self.health == "problems" else 0


def fleet_of(
    records: Iterable[Record],
    examine: Callable[[Facts], Examination],
    *,
    missing: Mapping[int, str] | None = None,
    collectives: Iterable[Collective] = (),
    error: str | None = None,
    strict: bool = False,
) -> Fleet:
    """Put the records of the ranks of each machine together, examine each machine once and compare them."""
    records = list(records)
    by_node: dict[str, list[Record]] = {}
    for record in records:
        by_node.setdefault(record.node, []).append(record)
    machines = []
    compared = []
    for node, found in by_node.items():
        facts = next((record.facts for record in found if record.facts is not None), None)
        if facts is not None:
            compared.append((node, facts))
        machines.append(
            FleetMember(
                node,
                tuple(sorted(record.rank for record in found if record.rank is not None)),
                None if facts is None else examine(facts),
                tuple((record.rank, smoke) for record in found for smoke in record.smokes),
                next((record.error for record in found if record.error), None),
            )
        )
    tried = tuple(collectives)
    skipped = None
    if missing and not tried:
        skipped = "not tried, because ranks are missing and the others would only wait for them"
    differing = (*differences(compared), *slow_ranks(records, dict(compared)))
    return Fleet(tuple(machines), differing, dict(missing or {}), tried, skipped, error, strict)
