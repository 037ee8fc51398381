"""How findings become a verdict: order, causes, crashes, with checks made for it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from doctor_machines import healthy

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.checks.registry import all_checks
from torchlift.doctor.diagnose import diagnose
from torchlift.doctor.examination import Examination
from torchlift.doctor.facts import Facts
from torchlift.doctor.report import json_report, text
from torchlift.doctor.schemas import report_schema
from torchlift.terminal.style import Style

VALIDATOR = jsonschema.Draft202012Validator(report_schema())


def check(id: str, *results: Result, group: str = "driver", fails: bool = False) -> Check:
    def look(facts: Facts) -> list[Result]:
        if fails:
            raise ZeroDivisionError("no\nway")
        return list(results)

    return Check(id=id, group=group, title=f"{id} is well", why="It breaks.", sources=(), look=look)


def examined(*checks: Check, strict: bool = False) -> Examination:
    return Examination(healthy("healthy_h100"), diagnose(healthy("healthy_h100"), checks), strict=strict)


def shown(examination: Examination, **options: Any) -> str:
    VALIDATOR.validate(json.loads(json_report.render(examination)))
    return text.render(examination, Style(), **options)


def test_a_check_that_crashes_is_a_finding_with_its_place() -> None:
    examination = examined(check("a", fails=True), check("b", Result("ok", "Well")))
    assert examination.exit_code == 2
    said = shown(examination)
    assert said.startswith("Not certain: 1 check of torchlift failed.")
    assert "ZeroDivisionError: no way (at test_doctor_diagnosis.py:" in " ".join(said.split())


def test_a_problem_outranks_a_crashed_check() -> None:
    assert examined(check("a", fails=True), check("b", Result("problem", "Broken"))).exit_code == 1


def test_what_follows_from_a_problem_is_shown_below_it_and_not_counted() -> None:
    effect = Result("problem", "Effect", cause="root", remedy=Remedy("Wrong way", "wrong way"))
    examination = examined(
        check("effect", effect, group="torch"), check("root", Result("problem", "Cause", remedy=Remedy("", "mend it")))
    )
    said = shown(examination)
    assert said.startswith("1 problem: Cause.")
    assert said.index("Cause (root)") < said.index("Effect (effect)")
    assert "mend it" in said and "wrong way" not in said
    assert "wrong way" in shown(examination, verbose=True)


def test_a_cause_that_is_no_problem_here_explains_nothing() -> None:
    said = shown(
        examined(check("effect", Result("problem", "Effect", cause="root")), check("root", Result("ok", "Well")))
    )
    assert said.startswith("1 problem: Effect.")


def test_causes_in_a_circle_lose_nothing() -> None:
    examination = examined(
        check("a", Result("problem", "First", cause="b")), check("b", Result("problem", "Second", cause="a"))
    )
    said = shown(examination)
    assert "First" in said and "Second" in said and examination.exit_code == 1


def test_a_problem_below_a_warning_is_still_a_problem() -> None:
    examination = examined(check("a", Result("warning", "Cause")), check("b", Result("problem", "Effect", cause="a")))
    assert examination.exit_code == 1 and "1 problem, 1 warning" in shown(examination)


def test_notes_are_condensed_and_evidence_is_for_the_verbose() -> None:
    notes = [
        Result("note", f"Note {n}", evidence=(Evidence("it", "seen", needed="needed", source="somewhere"),))
        for n in range(9)
    ]
    examination = examined(check("n", *notes))
    said = shown(examination)
    assert "Note 2" in said and "Note 3" not in said and "6 more notes (-v shows all)" in said
    assert "somewhere" not in said and "[ok] Driver" in said
    long = shown(examination, verbose=True)
    assert "Note 8" in long and "it: seen; needed: needed [somewhere]" in long


def test_why_a_command_mends_it_is_for_the_verbose() -> None:
    examination = examined(check("a", Result("problem", "Broken", remedy=Remedy("It brings the other one", "mend it"))))
    assert "It brings the other one." in shown(examination, verbose=True)
    assert "fix: mend it" in shown(examination) and "brings" not in shown(examination)


def test_nothing_known_is_no_failure() -> None:
    examination = Examination(Facts(), diagnose(Facts(), all_checks()))
    assert examination.exit_code == 0
    assert "torch is not installed" in shown(examination)
