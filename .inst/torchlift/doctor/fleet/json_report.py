"""The machine format of a fleet. `torchlift.doctor.schemas` publishes its shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from torchlift import __version__
from torchlift.doctor.fleet.fleet import Fleet
from torchlift.doctor.fleet.text_report import verdict
from torchlift.doctor.report.json_report import DoctorReport
from torchlift.doctor.report.json_report import report as machine_report
from torchlift.json_records.writing import plain
from torchlift.lazy_dataclass import dataclass

FLEET_SCHEMA: Final = 1
"""Version of the JSON form. Added keys do not change it; removed or re-interpreted ones do."""

# Results come as JSON from ranks whose torchlift may be another one.
_SMOKE = {
    "properties": {"rank": {"type": ["integer", "null"]}, "id": {"type": "string"}, "outcome": {"type": "string"}},
    "required": ["rank", "id", "outcome"],
}


@dataclass(frozen=True)
class RankReason:
    """What went wrong at a rank."""

    rank: int
    reason: str


@dataclass(frozen=True)
class ReportedMachine:
    """One machine."""

    name: str
    ranks: tuple[int, ...]
    fit: bool
    """Whether the machine, taken alone, is healthy."""
    error: str | None
    """Why there is no report."""
    report: DoctorReport | None
    """What `torchlift doctor --json` prints there."""
    smokes: list[Annotated[dict[str, Any], _SMOKE]]


@dataclass(frozen=True)
class OtherValue:
    """What some machines have instead."""

    value: str
    machines: tuple[str, ...]


@dataclass(frozen=True)
class ReportedDifference:
    """An aspect that is not the same everywhere."""

    aspect: str
    """Stable id."""
    title: str
    weight: Annotated[str, {"enum": ["warning", "note"]}]
    majority: str | None
    """What more than half of the machines have."""
    machines: tuple[str, ...]
    """Those of the majority."""
    others: list[OtherValue]


@dataclass(frozen=True)
class ReportedCollective:
    """An all_reduce over all ranks."""

    backend: str
    ranks: int
    seconds: float
    failed: list[RankReason]
    bus_bandwidth: float | None
    """In bytes a second, after a burn."""


@dataclass(frozen=True)
class FleetReport:
    """The machines of a job together."""

    fleet_schema: Literal[1]
    torchlift: str
    """Version of torchlift."""
    verdict: str
    health: Literal["healthy", "problems"]
    exit_code: Annotated[int, {"enum": [0, 1]}]
    strict: bool
    """Differences of weight count as problems."""
    machines: list[ReportedMachine]
    differences: list[ReportedDifference]
    missing: list[RankReason]
    """Ranks that did not answer."""
    collectives: list[ReportedCollective]
    skipped_collectives: str | None
    """Why none was tried, where one was due."""
    error: str | None
    """What cut the exchange short."""


def render(fleet: Fleet) -> str:
    """The report as ASCII text; the same fleet gives the same bytes."""
    return json.dumps(plain(report(fleet)), indent=2) + "\n"


def report(fleet: Fleet) -> FleetReport:
    """The report as a record."""
    return FleetReport(
        fleet_schema=FLEET_SCHEMA,
        torchlift=__version__,
        verdict=verdict(fleet),
        health=fleet.health,
        exit_code=fleet.exit_code,
        strict=fleet.strict,
        machines=[
            ReportedMachine(
                name=machine.name,
                ranks=machine.ranks,
                fit=not machine.is_bad,
                error=machine.error,
                report=None if machine.examination is None else machine_report(machine.examination),
                smokes=[{"rank": rank, **smoke} for rank, smoke in machine.smokes],
            )
            for machine in fleet.machines
        ],
        differences=[
            ReportedDifference(
                aspect=difference.aspect.id,
                title=difference.aspect.title,
                weight=difference.aspect.weight,
                majority=difference.majority,
                machines=difference.machines,
                others=[OtherValue(value, names) for value, names in difference.others],
            )
            for difference in fleet.differences
        ],
        missing=_reasons(fleet.missing),
        collectives=[
            ReportedCollective(tried.backend, tried.ranks, tried.seconds, _reasons(tried.failed), tried.bus_bandwidth)
            for tried in fleet.collectives
        ],
        skipped_collectives=fleet.skipped_collectives,
        error=fleet.error,
    )


def _reasons(failed: Mapping[int, str]) -> list[RankReason]:
    return [RankReason(rank, reason) for rank, reason in sorted(failed.items())]
