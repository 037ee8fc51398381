"""Take names out of a fleet's report."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torchlift.doctor.fleet.differences import Deviation
from torchlift.doctor.fleet.fleet import Fleet, FleetMember
from torchlift.doctor.report.redact import redacted as redacted_examination

_OURS = re.compile(r"(?:never joined within|joined, but gave no|lives, but was not done)[\w .,]*$")
"""Reasons for a missing rank that hold nothing but our words."""

_RATES = ("rate", "rates", "pairs", "datasheet", "share", "warning")


def redacted(fleet: Fleet) -> Fleet:
    """Machines are numbered in the order they are in; what each says is redacted as a report of it alone would be.

    Free texts of ranks (why one is missing, why a collective failed, what a smoke printed) may hold names of hosts that
    nothing else names: they are left out.
    """
    names = {machine.name: f"machine-{number}" for number, machine in enumerate(fleet.machines, 1)}
    return replace(
        fleet,
        machines=tuple(_machine(machine, names[machine.name]) for machine in fleet.machines),
        differences=tuple(_difference(difference, names) for difference in fleet.differences),
        missing={
            rank: why if _OURS.match(why) else "is missing (reason left out)" for rank, why in fleet.missing.items()
        },
        collectives=tuple(
            replace(tried, failed=dict.fromkeys(tried.failed, "(reason left out)")) for tried in fleet.collectives
        ),
        error=None if fleet.error is None else "the exchange ended early (reason left out)",
    )


def _machine(machine: FleetMember, name: str) -> FleetMember:
    kept = (
        "id",
        "device",
        "tier",
        "title",
        "outcome",
        "seconds",
        "wall",
        "error",
        "limit",
        "signature",
        "cause",
        "signal",
    )
    return FleetMember(
        name,
        machine.ranks,
        None if machine.examination is None else redacted_examination(machine.examination),
        tuple(
            (rank, {**{key: _without_uuid(smoke[key]) for key in kept if key in smoke}, **_numbers(smoke)})
            for rank, smoke in machine.smokes
        ),
        None if machine.error is None else "(reason left out)",
    )


def _without_uuid(value: Any) -> Any:
    """Devices that were named by their UUID are a "GPU" or a "MIG" slice."""
    return value[:3] if isinstance(value, str) and value.startswith(("GPU-", "MIG-")) else value


def _numbers(smoke: Mapping[str, Any]) -> dict[str, Any]:
    """Of a smoke's details the rates alone: the rest may say anything."""
    details = smoke.get("details")
    kept = {} if not isinstance(details, dict) else {key: details[key] for key in _RATES if key in details}
    return {"details": kept} if kept else {}


def _difference(difference: Deviation, names: dict[str, str]) -> Deviation:
    def renamed(machines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(machine, machine) for machine in machines)

    others = tuple((_value(difference, value), renamed(machines)) for value, machines in difference.others)
    majority = None if difference.majority is None else _value(difference, difference.majority)
    return replace(difference, majority=majority, machines=renamed(difference.machines), others=others)


def _value(difference: Deviation, value: str) -> str:
    if difference.aspect.id.startswith("rate-"):
        share, _, place = value.partition(" (")  # the rank stays, the device may be a UUID
        return f"{share}, {place.partition(', ')[0]}" if place.startswith("rank ") else share
    # Variables hold addresses and interfaces; all else is versions and counts.
    if difference.aspect.id != "variables":
        return value
    return json.dumps(sorted(part.partition("=")[0] for part in value.split(", ")))
