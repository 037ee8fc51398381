"""What the text about many machines says of each of them, and of ranks that did not reach the others."""

from __future__ import annotations

import pytest
from doctor_machines import healthy

from torchlift.doctor.checks.registry import all_checks
from torchlift.doctor.diagnose import diagnose
from torchlift.doctor.examination import Examination
from torchlift.doctor.facts import Facts
from torchlift.doctor.fleet import markdown, page, text_report
from torchlift.doctor.fleet.exchange import Collective
from torchlift.doctor.fleet.fleet import Fleet, fleet_of
from torchlift.doctor.fleet.record import Record
from torchlift.doctor.smoke.parent.report import SmokeReport
from torchlift.terminal.style import Style


def _examined(facts: Facts, smokes: SmokeReport | None = None) -> Examination:
    return Examination(facts, diagnose(facts, all_checks()), smokes=smokes)


def fleet(broken: int, *, collectives: tuple[Collective, ...] = ()) -> Fleet:
    """Three machines, the first `broken` of which could not replace bad memory."""
    records = []
    for index in range(3):
        facts = healthy("healthy_h100")
        facts.gpus[0].remapping_failed = index < broken
        records.append(Record(f"n{index}", index, facts))
    return fleet_of(records, _examined, collectives=collectives)


@pytest.mark.parametrize(
    ("broken", "heading", "names"),
    [(1, "On single machines", "n0:"), (2, "On single machines", "n0, n1:"), (3, "On all machines", "n0, n1, n2:")],
)
def test_the_same_trouble_is_one_line_that_names_its_machines(broken: int, heading: str, names: str) -> None:
    said = text_report.render(fleet(broken), Style())
    assert heading in said and said.count("could not replace bad memory") == 1
    assert f"{names} " in said.split(heading)[1]


def test_ranks_that_failed_for_one_reason_stand_together() -> None:
    tried = Collective("nccl", 3, 1.0, {0: "no route", 1: "no route", 2: "a wrong sum"})
    said = " ".join(text_report.render(fleet(0, collectives=(tried,)), Style()).split())
    assert "all_reduce on nccl failed on rank 0-1: no route" in said
    assert "all_reduce on nccl failed on rank 2: a wrong sum" in said
    right = text_report.render(fleet(0, collectives=(Collective("nccl", 3, 1.0, {}),)), Style())
    assert "all_reduce on nccl over 3 ranks: right, 1.00 s" in right and "failed" not in right


def test_the_page_has_every_machine_with_what_is_wrong_with_it() -> None:
    shown = page.render(fleet(1))
    machines = shown[shown.index('id="machines"') :]
    assert all(f"n{index}" in machines for index in range(3)) and "could not replace bad memory" in machines


def test_a_machine_without_facts_is_in_trouble_and_a_difference_without_a_majority_has_none() -> None:
    records = [Record("n0", 0, healthy("healthy_h100")), Record("n1", 1, healthy("healthy_v100"))]
    lost = fleet_of([*records, Record("n2", 2, error="its disk is full")], _examined)
    said = text_report.render(lost, Style())
    assert "n2: its disk is full" in " ".join(said.split())
    shown = markdown.render(lost)
    (row,) = [line for line in shown.splitlines() if line.startswith("| n2 ")]
    assert row.count("unknown") == 3
    (models,) = [line for line in shown.splitlines() if line.startswith("| GPU") and "H100" in line]
    assert models.split("|")[2].strip() == ""
    whole = fleet_of([*records, Record("n3", 3, healthy("healthy_h100"))], _examined)
    (models,) = [line for line in markdown.render(whole).splitlines() if line.startswith("| GPU") and "H100" in line]
    assert "H100" in models.split("|")[2]
