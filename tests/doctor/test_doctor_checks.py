from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest
from doctor_machines import FIXTURES, MACHINES, changed, healthy, places, recorded_reads
from lines_reached import lines_of, recorded_lines
from noted_words import problem_with

from torchlift.doctor.check import GROUPS, Check, Result
from torchlift.doctor.checks.registry import CheckFileError, all_checks, check_in
from torchlift.doctor.facts import Facts

CHECKS = {check.id: check for check in all_checks()}
WORST_FIRST = ("failed", "problem", "warning", "note", "skipped", "ok")
CASES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["cases"]
    for path in sorted((FIXTURES / "checks").glob("*.json"))
}


def machine(case: Mapping[str, Any]) -> Facts:
    return changed(case["machine"], case.get("change", {}))


def status(results: list[Result]) -> str:
    return min((result.status for result in results), key=WORST_FIRST.index, default="none")


def words(results: list[Result]) -> str:
    parts: list[str] = []
    for result in results:
        parts.append(result.summary)
        for item in result.evidence:
            parts += [item.what, item.seen, item.needed or "", item.source]
        if result.remedy is not None:
            parts += [result.remedy.text, result.remedy.command or ""]
    return "\n".join(parts)


@pytest.mark.parametrize("id", CASES)
def test_each_ill_machine_gets_the_answer_that_its_fixture_names(id: str) -> None:
    assert {case["name"]: wrong for case in CASES[id] if (wrong := wrongly_answered(CHECKS[id], case))} == {}


def wrongly_answered(check: Check, case: Mapping[str, Any]) -> list[str]:
    """What a case asks for and the check does not answer, with its answer."""
    results = list(check.look(machine(case)))
    text = words(results)
    commands = [result.remedy.command for result in results if result.remedy is not None and result.remedy.command]
    wrong = [] if status(results) == case["status"] else [f"it is {status(results)}"]
    wrong += [f"it does not say {expected!r}" for expected in case.get("says", []) if expected not in text]
    wrong += [f"it says {unwanted!r}" for unwanted in case.get("never_says", []) if unwanted in text]
    wanted = case.get("command", ...)
    if (wanted is None and commands) or (isinstance(wanted, str) and not any(wanted in each for each in commands)):
        wrong.append(f"its commands are {commands}")
    if "cause" in case and case["cause"] not in [result.cause for result in results]:
        wrong.append(f"its causes are {[result.cause for result in results]}")
    return [*wrong, text] if wrong else []


@pytest.mark.parametrize("id", CASES)
def test_a_check_says_of_each_machine_word_for_word_what_it_said(id: str, pytestconfig: pytest.Config) -> None:
    machines = {**{name: healthy(name) for name in MACHINES}, **{case["name"]: machine(case) for case in CASES[id]}}
    said = "\n".join(f"{name}: {list(CHECKS[id].look(facts))}" for name, facts in machines.items())
    told = problem_with(f"check {id}", said)
    assert told is None or pytestconfig.getoption("prove"), told


def test_each_fixture_belongs_to_a_check() -> None:
    assert set(CASES) <= set(CHECKS)


def test_each_case_says_only_what_the_harness_reads() -> None:
    known = {"name", "machine", "change", "status", "says", "never_says", "command", "cause"}
    for id, listed in CASES.items():
        names = [case["name"] for case in listed]
        assert len(set(names)) == len(names), id
        for case in listed:
            assert set(case) <= known, (id, case["name"])


@pytest.mark.parametrize("id", CHECKS)
def test_each_check_has_a_machine_with_nothing_to_complain_about_and_an_ill_one(id: str) -> None:
    seen = {case["status"] for case in CASES.get(id, [])}
    assert seen & {"ok", "none"}
    assert seen & {"problem", "warning", "note"}


@pytest.mark.parametrize("id", CHECKS)
def test_each_line_of_a_check_is_reached_by_a_machine_whose_answer_is_known(id: str) -> None:
    module = sys.modules[CHECKS[id].look.__module__]
    known = [*map(machine, CASES[id]), *map(healthy, MACHINES), Facts()]
    with recorded_lines(module) as reached:
        for facts in known:
            list(CHECKS[id].look(facts))
    missing = sorted(lines_of(module) - reached)
    assert not missing, f"no case of fixtures/checks/{id}.json reaches these lines of {module.__file__}: {missing}"


@pytest.mark.parametrize("id", CHECKS)
def test_each_status_that_a_check_names_is_answered_in_a_case(id: str) -> None:
    tree = ast.parse(inspect.getsource(sys.modules[CHECKS[id].look.__module__]))
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    named |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    answered = {result.status for case in CASES[id] for result in CHECKS[id].look(machine(case))}
    missing = named & {"note", "warning", "problem"} - answered
    assert not missing, f"no case of fixtures/checks/{id}.json is answered by {missing}"


@pytest.mark.parametrize("name", MACHINES)
def test_no_check_complains_about_a_healthy_machine(name: str) -> None:
    facts = healthy(name)
    results = {check.id: list(check.look(facts)) for check in all_checks()}
    found = {id: words(said) for id, said in results.items() if status(said) in ("problem", "warning", "failed")}
    assert found == {}


@pytest.mark.parametrize("name", MACHINES)
def test_no_check_fails_on_a_healthy_machine_of_which_one_thing_is_not_known(name: str) -> None:
    facts = healthy(name)
    for check in CHECKS.values():
        survives_odd_values(check, facts)


@pytest.mark.parametrize("id", CASES)
def test_no_check_fails_on_an_ill_machine_of_which_one_thing_is_not_known(id: str) -> None:
    for case in CASES[id]:
        survives_odd_values(CHECKS[id], machine(case))


def survives_odd_values(check: Check, facts: Facts) -> None:
    """What a check does not read cannot change what it does: only the fields that it reads are given odd values."""
    with recorded_reads() as reads:
        list(check.look(facts))
    for place in places(facts):
        if (id(place.record), place.name) not in reads:
            continue
        before = getattr(place.record, place.name)
        for value in place.values:
            setattr(place.record, place.name, value)
            try:
                for result in check.look(facts):
                    assert result.summary and not result.summary.endswith(".")
            except Exception as error:
                raise AssertionError(f"{check.id} fails when {place} is {value!r}: {error!r}") from error
        setattr(place.record, place.name, before)


def test_a_read_of_a_fact_is_recorded() -> None:
    facts = healthy("healthy_h100")
    with recorded_reads() as reads:
        assert facts.gpus[0].name
    assert reads >= {(id(facts), "gpus"), (id(facts.gpus[0]), "name")}
    assert (id(facts), "torch") not in reads


@pytest.mark.parametrize("id", CHECKS)
def test_no_check_complains_when_nothing_is_known(id: str) -> None:
    assert status(list(CHECKS[id].look(Facts()))) in ("none", "ok", "note", "skipped")


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_each_check_says_what_it_is(check: Check) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", check.id)
    assert check.group in GROUPS
    assert check.title and not check.title.endswith(".")
    assert len(check.why.split()) >= 10
    assert check.sources and all(source.strip() for source in check.sources)


def test_no_two_checks_share_an_id() -> None:
    assert len(CHECKS) == len(all_checks())


def test_each_cause_of_a_driver_or_gpu_trouble_is_found_on_the_same_machine() -> None:
    for id, listed in CASES.items():
        for case in listed:
            cause = case.get("cause")
            if cause is not None and CHECKS[id].group in ("driver", "gpu"):
                assert cause != id
                assert status(list(CHECKS[cause].look(machine(case)))) in ("problem", "warning"), (id, case["name"])


def test_each_result_that_names_a_cause_names_another_check() -> None:
    for id, listed in CASES.items():
        for case in listed:
            for result in CHECKS[id].look(machine(case)):
                assert result.cause is None or (result.cause in CHECKS and result.cause != id), (id, case["name"])


def test_each_file_of_a_check_is_named_after_it() -> None:
    for check in CHECKS.values():
        module = check.look.__module__.rpartition(".")[2]
        assert module == check.id.replace("-", "_")
        assert check.look.__module__.split(".")[-2] == check.group.replace("-", "_")


def test_a_file_that_is_no_whole_check_is_refused_with_what_is_missing() -> None:
    module = ModuleType("halfway")
    module.__file__ = "halfway.py"
    with pytest.raises(CheckFileError, match=r"needs `CHECK = Check\(...\)`"):
        check_in(module)
    vars(module)["CHECK"] = Check(id="halfway", group="gpu", title="It is whole", why="It is not.", sources=())
    with pytest.raises(CheckFileError, match="no function `look`: nothing would find halfway"):
        check_in(module)
    with pytest.raises(LookupError):
        vars(module)["CHECK"].look(Facts())
