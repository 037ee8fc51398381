"""Many machines as CI systems show them: JUnit XML and annotations of GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from torchlift.doctor.fleet.fleet import Fleet, FleetMember
from torchlift.doctor.fleet.text_report import verdict
from torchlift.doctor.report.in_ci import SaidInCi, as_annotations, as_junit, said_of, said_of_smoke


def render(fleet: Fleet, form: Literal["github", "junit"]) -> str:
    """Each machine, then what concerns all of them."""
    said = _said(fleet)
    return as_junit(said) if form == "junit" else as_annotations(said, verdict(fleet))


def _said(fleet: Fleet) -> list[SaidInCi]:
    """Everything that was looked at on each machine, then what concerns all."""
    found = [each for machine in fleet.machines for each in _machine(machine)]
    for difference in fleet.differences:
        serious = difference.aspect.weight == "warning"
        status: Literal["note", "warning", "problem"] = (
            "note" if not serious else "problem" if fleet.strict else "warning"
        )
        others = "; ".join(f"{value}: {', '.join(names)}" for value, names in difference.others)
        majority = f"most have {difference.majority}, others " if difference.majority is not None else ""
        text = f"Machines differ in {difference.aspect.title}: {majority}{others}"
        found.append(SaidInCi(difference.aspect.title, "all machines", status, text, text))
    for rank, why in sorted(fleet.missing.items()):
        text = f"Rank {rank} {why}"
        found.append(SaidInCi(f"rank {rank}", "all machines", "problem", text, text))
    for tried in fleet.collectives:
        text = "\n".join(f"Rank {rank}: {why}" for rank, why in sorted(tried.failed.items()))
        summary = f"all_reduce over {tried.ranks} ranks on {tried.backend} {'failed' if text else 'gave the right sum'}"
        found.append(
            SaidInCi(
                f"all_reduce on {tried.backend}", "all machines", "problem" if text else "ok", summary, text or summary
            )
        )
    if fleet.error is not None:
        found.append(SaidInCi("exchange", "all machines", "problem", fleet.error, fleet.error))
    return found


def _machine(machine: FleetMember) -> Iterator[SaidInCi]:
    if machine.examination is None:
        text = f"Nothing is known of {machine.name}: {machine.error or 'no facts came from it'}"
        yield SaidInCi("facts", machine.name, "problem", text, text)
    else:
        for each in said_of(machine.examination):
            yield SaidInCi(f"{each.group}: {each.name}", machine.name, each.status, each.summary, each.text)
    for rank, smoke in machine.smokes:
        name = f"smokes: {smoke['id']} on {smoke.get('device', '')}" + (f" by rank {rank}" if rank is not None else "")
        more = (smoke.get("cause"), smoke.get("remedy"), smoke.get("output"))
        warned = (smoke.get("details") or {}).get("warning")
        yield said_of_smoke(
            name, machine.name, smoke["outcome"], smoke.get("reason"), smoke.get("title") or smoke["id"], more, warned
        )
