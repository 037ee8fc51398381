"""The doctor's report in the forms that CI systems read, in files and several at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from annotations import annotations
from commands import told
from doctor_machines import FIXTURES, changed, healthy
from published_formats import junit

from torchlift.doctor.facts import Facts, XidError
from torchlift.json_records.writing import plain

HOSTILE = "x\x1b[31m\n::error::owned, 100% <&>\u202e"
HEALTHY = FIXTURES / "machines/healthy_8xh100.json"


def ill(name: str = "GPU has fallen off the bus.") -> Facts:
    facts = healthy("healthy_8xh100")
    facts.gpus[2].remapping_failed = True
    facts.kernel_log.source = "/dev/kmsg"
    facts.kernel_log.xids.append(XidError(79, "0000:ff:00.0", name))
    return facts


def saved(folder: Path, facts: Facts, name: str = "facts.json") -> str:
    (folder / name).write_text(json.dumps(plain(facts)))
    return str(folder / name)


def cases(text: str) -> dict[str, list[tuple[str, str]]]:
    """What became of each case, by suite."""
    found: dict[str, list[tuple[str, str]]] = {}
    for suite in junit(text):
        for case in suite:
            results = [type(result).__name__ for result in case.result]
            found.setdefault(suite.name, []).append((case.name, results[0] if results else "passed"))
    return found


def test_junit_has_a_case_for_each_result_and_fails_for_problems(tmp_path: Path) -> None:
    path = saved(tmp_path, ill())
    done = told(tmp_path, "doctor", "--facts", path, "--output-format", "junit", "--output-file", "json=r.json")
    results = json.loads((tmp_path / "r.json").read_text())["results"]
    expected = {"problem": "Failure", "failed": "Error", "skipped": "Skipped"}
    found = cases(done.stdout)
    assert done.returncode == 1 and "Failure" in {outcome for each in found.values() for _, outcome in each}
    for group in {result["group"] for result in results}:
        told_of = [(r["check"], expected.get(r["status"], "passed")) for r in results if r["group"] == group]
        assert [(name.partition(" (")[0], outcome) for name, outcome in found[group]] == told_of
        assert len({name for name, _ in found[group]}) == len(told_of)


def test_warnings_fail_where_they_count(tmp_path: Path) -> None:
    path = saved(tmp_path, changed("healthy_8xh100", {"gpus.-5": None}))
    for strict, more in ((False, []), (True, ["--strict"])):
        done = told(tmp_path, "doctor", "--facts", path, "--output-format", "junit", *more)
        outcomes = {outcome for each in cases(done.stdout).values() for _, outcome in each}
        assert (done.returncode == 1) is ("Failure" in outcomes) is strict


def test_annotations_begin_with_the_verdict_and_name_what_is_wrong_with_what_to_do(tmp_path: Path) -> None:
    done = told(tmp_path, "doctor", "--facts", saved(tmp_path, ill(HOSTILE)), "--output-format", "github")
    (level, properties, text), *others = annotations(done.stdout)
    assert (level, properties) == ("notice", {"title": "torchlift doctor"}) and "problem" in text
    errors = [(properties["title"], text) for level, properties, text in others if level == "error"]
    assert errors and all(title.startswith("torchlift doctor: gpu, ") for title, _ in errors)
    assert any("What to do: " in text for _, text in errors)
    assert "\x1b" not in done.stdout


def test_what_no_document_may_hold_is_replaced(tmp_path: Path) -> None:
    done = told(tmp_path, "doctor", "--facts", saved(tmp_path, ill(HOSTILE)), "--output-format", "junit")
    assert cases(done.stdout) and "\x1b" not in done.stdout


def test_a_described_machine_is_one_case_about_its_wheel(tmp_path: Path) -> None:
    fits = told(tmp_path, "doctor", "--gpu", "V100", "--driver", "580", "--output-format", "junit")
    none = told(tmp_path, "doctor", "--gpu", "V100", "--for", "torch==2.15", "--output-format", "junit")
    assert (fits.returncode, cases(fits.stdout)) == (0, {"plan": [("wheel", "passed")]})
    assert (none.returncode, cases(none.stdout)["plan"]) == (1, [("wheel", "Failure")])


def test_several_machines_are_a_suite_each_and_what_differs_concerns_all(tmp_path: Path) -> None:
    one, other = saved(tmp_path, healthy("healthy_8xh100"), "one.json"), saved(tmp_path, ill(), "other.json")
    files = ["--output-file", "junit=r.xml", "--output-file", "github=r.txt", "--html", "r.html"]
    done = told(tmp_path, "doctor", "merge", one, other, *files)
    found = cases((tmp_path / "r.xml").read_text())
    assert done.returncode == 1 and {"one", "other"} <= set(found)
    assert "Failure" not in {outcome for _, outcome in found["one"]}
    assert "Failure" in {outcome for _, outcome in found["other"]}
    assert annotations((tmp_path / "r.txt").read_text())[0][2] == done.stdout.splitlines()[0].lstrip("✗ ")
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


def test_smokes_are_cases_and_a_file_has_what_was_shown_before_the_report(tmp_path: Path) -> None:
    smoke = ["--smoke-only", "alloc"]
    done = told(
        tmp_path, "doctor", *smoke, "--output-file", "junit=r.xml", "--output-file", "text=r.txt", "--color", "never"
    )
    assert cases((tmp_path / "r.xml").read_text())["smokes"] == [("alloc on cpu", "passed")]
    assert "alloc" in done.stdout and "alloc" in (tmp_path / "r.txt").read_text()
    alone = told(tmp_path, "doctor", *smoke, "--output-file", "alone.txt")
    assert alone.stdout == "" and "alloc" in (tmp_path / "alone.txt").read_text()


def test_markdown_in_a_file_has_no_names_and_what_is_shown_beside_it_has(tmp_path: Path) -> None:
    facts = healthy("healthy_8xh100")
    facts.environment["NCCL_DEBUG"] = "somebody-special"
    path = saved(tmp_path, facts)
    told(tmp_path, "doctor", "--facts", path, "--output-file", "markdown=r.md", "--output-file", "json=r.json")
    assert "somebody-special" in (tmp_path / "r.json").read_text()
    assert "somebody-special" not in (tmp_path / "r.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--output-file", "no/x.json"], "There is no folder 'no'"),
        (["--html", "a.html", "--output-file", "html=a.html"], "'a.html' is named twice"),
        (["--output-file", "a.txt", "--output-file", "b.txt"], "name the format of others"),
        (["--output-file", "junit=/dev/full"], "could not be written to /dev/full: No space left on device"),
        (["--list-checks", "--output-format", "junit"], "--list-checks is answered as text or as JSON"),
        (["--explain", "shm-size", "--html", "a.html"], "--explain is answered as text or as JSON"),
        (["--explain-error", "x", "--output-format", "github"], "--explain-error is answered as text or as JSON"),
        (["--emit", "requirements", "--output-file", "a.txt"], "--emit writes pins and no report"),
    ],
)
def test_a_report_that_cannot_be_is_a_sentence_and_exit_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = told(tmp_path, "doctor", *(["--facts", str(HEALTHY)] if "explain" not in str(arguments) else []), *arguments)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
