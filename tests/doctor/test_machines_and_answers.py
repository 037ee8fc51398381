"""Machines of `fixtures/answers`: each gets the answer that was derived for it."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import CliRunner
from doctor_machines import FIXTURES, changed

from torchlift.doctor.checks.registry import all_checks
from torchlift.doctor.cli import doctor
from torchlift.doctor.diagnose import diagnose
from torchlift.doctor.examination import Examination
from torchlift.doctor.facts import Facts
from torchlift.doctor.facts.facts_json import from_json
from torchlift.doctor.remedies.wheel_remedy import fitted, wheel_answer
from torchlift.doctor.report.verdict import verdict

FOLDER = FIXTURES / "answers"


@dataclass(frozen=True)
class Row:
    words: str
    options: str
    answer: str
    sources: str


DESCRIBED = [
    Row(*(cell.strip() for cell in line.split("|")))
    for line in (FOLDER / "described.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
EXAMINED: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "examined.jsonl").read_text(encoding="utf-8").splitlines()
]


def named(choice: dict[str, Any]) -> str:
    return f"{choice['torch']} {choice['build']}"


def matches(answer: dict[str, Any], expected: str) -> bool:
    """Whether an answer of the JSON report is the one that a row says, in its words."""
    first, *more = expected.split(", ")
    kind, *rest = first.split()
    right: dict[str, bool] = {
        "wheel": answer["kind"] == "wheel" and named(answer["choice"] or {"torch": "", "build": ""}) == " ".join(rest),
        "upgrade": answer["kind"] == "upgrade-driver"
        and f"{answer['upgrade_driver']} then {named(answer['then'])}" == " ".join(rest),
        "split": answer["kind"] == "split" and {choice["build"] for _, choice in answer["parts"]} == set(rest),
        "none": answer["kind"] == "none" and answer["choice"] is None,
        "unknown": answer["kind"] == "unknown" and answer["choice"] is None,
    }
    later = {"then": answer["upgrade_driver"], "instead": ""}
    if answer["alternatives"]:
        later["instead"] = named(answer["alternatives"][0])
    for item in more:
        word, _, value = item.partition(" ")
        if word in later:
            right[kind] = right[kind] and later[word] == value
        else:
            right[kind] = right[kind] and item in json.dumps(answer)
    # A driver that would bring a newer torch is part of the answer, and so of the row.
    silent = (
        answer["kind"] == "wheel" and answer["upgrade_driver"] and not any(item.startswith("then ") for item in more)
    )
    return right[kind] and not silent


@pytest.mark.parametrize("row", DESCRIBED, ids=[row.words for row in DESCRIBED])
def test_a_described_machine_gets_the_wheel_that_was_derived_for_it(row: Row) -> None:
    result = CliRunner().invoke(doctor, [*shlex.split(row.options), "--json"])
    report = json.loads(result.output)
    assert matches(report["answer"], row.answer), report["answer"]
    assert result.exit_code == (0 if row.answer.startswith("wheel") else 1)


def machine(row: dict[str, Any]) -> Facts:
    if row["from"].startswith("../"):
        return from_json(json.loads((FIXTURES / "machines" / f"{row['from']}.json").read_text(encoding="utf-8")))
    return changed(row["from"], row["change"])


def examined(facts: Facts) -> Examination:
    return Examination(facts, diagnose(facts, all_checks()), fitted(facts, wheel_answer(facts)))


@pytest.mark.parametrize("row", EXAMINED, ids=[row["machine"] for row in EXAMINED])
def test_an_examined_machine_gets_the_problems_and_the_wheel_that_were_derived_for_it(row: dict[str, Any]) -> None:
    examination = examined(machine(row))
    alone = {"problem": set[str](), "warning": set[str]()}
    for finding in examination.findings:
        if finding.result.status in alone:
            alone[finding.result.status].add(finding.check.id)
    assert (alone["problem"], alone["warning"]) == (set(row["problems"]), set(row["warnings"])), verdict(examination)
    assert examination.exit_code == bool(row["problems"])
    choice = examination.answer.choice if examination.answer else None
    assert choice is not None and choice.build == row["build"], examination.answer


@pytest.mark.parametrize("row", EXAMINED, ids=[row["machine"] for row in EXAMINED])
def test_a_healthy_verdict_and_the_answer_of_json_are_for_the_same_kind_of_gpu(row: dict[str, Any]) -> None:
    facts = machine(row)
    examination = examined(facts)
    choice = examination.answer.choice if examination.answer else None
    if facts.torch is None or choice is None or not verdict(examination).startswith("Healthy:"):
        return
    kind = re.sub(r"[\d.]+$", "", choice.build)
    installed = "cu" if facts.torch.cuda else "rocm" if facts.torch.hip else "xpu" if facts.torch.xpu else "cpu"
    # A build for GPUs computes on the processor as well, and one for what is part of a processor is worth a note.
    told = [
        result
        for result in examination.independent("note")
        if result.remedy is not None and "CPU build" in result.summary
    ]
    assert kind in (installed, "cpu") or told, choice
    assert kind == installed or "runs on the CPU" in verdict(examination)


@pytest.mark.parametrize("row", EXAMINED, ids=[row["machine"] for row in EXAMINED])
def test_no_verdict_says_that_a_cpu_build_and_a_gpu_work_together(row: dict[str, Any]) -> None:
    facts = machine(row)
    if facts.torch is not None and not (facts.torch.cuda or facts.torch.hip or facts.torch.xpu or facts.other.mps):
        assert "work together" not in verdict(examined(facts))


def test_there_are_150_machines_and_each_names_its_source() -> None:
    assert len(DESCRIBED) + len(EXAMINED) >= 150
    known = set(re.findall(r"^\| ([a-z, ]+) \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    words = {word for cell in known for word in cell.split(", ")}
    for source in [*(row.sources for row in DESCRIBED), *(row["source"] for row in EXAMINED)]:
        assert source and set(source.split()) <= words, source
    assert len({row.words for row in DESCRIBED}) == len(DESCRIBED)
