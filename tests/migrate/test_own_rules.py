"""A project's own rules run beside torchlift's, once a person said so; a repository alone gets none of its code run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from commands import told
from own_rule_files import write_rule

OLD = "import mylib\n\nx = mylib.old()\n"
SUPPRESSED = "import mylib\n\nx = mylib.old()  # torchlift: ignore[X100] kept for mylib 1\n"


def codes(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode in {0, 1}, done.stderr
    return [finding["code"] for finding in json.loads(done.stdout)["findings"]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a rule that leaves a trace when it is imported."""
    trace = tmp_path / "imported"
    write_rule(tmp_path / "tools", more=f"open({str(trace)!r}, 'w').close()\n")
    (tmp_path / "pyproject.toml").write_text('[tool.torchlift]\nextend-rules = ["tools"]\n')
    (tmp_path / "a.py").write_text(OLD)
    (tmp_path / "b.py").write_text(SUPPRESSED)
    return tmp_path


@pytest.mark.parametrize("mode", [[], ["--check"], ["--diff"], ["--select", "X100"]])
def test_a_configuration_alone_gets_no_code_run(project: Path, mode: list[str]) -> None:
    done = told(project, "migrate", *mode)
    assert done.returncode == 2 and not (project / "imported").exists()
    assert "rules are code" in done.stderr and "--allow-own-rules" in done.stderr and "tools" in done.stderr


def test_nor_do_the_commands_that_show_rules_run_it(project: Path) -> None:
    for arguments in (["rule", "TL101"], ["rules"], ["rule", "--test", "TL902"], ["migrate", "--isolated", "--check"]):
        assert told(project, *arguments).returncode in {0, 1}
        assert not (project / "imported").exists(), arguments
    assert told(project, "rule", "X100").returncode == 2


def test_no_key_of_a_configuration_allows_it(project: Path) -> None:
    with (project / "pyproject.toml").open("a") as file:
        file.write("allow-own-rules = true\n")
    done = told(project, "migrate", "--check")
    assert done.returncode == 2 and "no setting `allow-own-rules`" in done.stderr
    assert not (project / "imported").exists()


def test_with_a_word_on_the_command_line_own_rules_find_fix_and_are_suppressed_as_torchlifts(project: Path) -> None:
    found = told(project, "migrate", "--check", "--allow-own-rules", "--output-format", "json")
    assert codes(found) == ["X100"]
    done = told(project, "migrate", "--allow-own-rules", "--allow-no-vcs")
    assert done.returncode == 0, done.stdout
    assert (project / "a.py").read_text() == OLD.replace("old", "new")
    assert (project / "b.py").read_text() == SUPPRESSED


@pytest.mark.parametrize(
    ("select", "expected"), [("X", ["X100"]), ("X1", ["X100"]), ("old-call", ["X100"]), ("TL4", [])]
)
def test_own_rules_are_selected_as_others_are(project: Path, select: str, expected: list[str]) -> None:
    arguments = ["migrate", "--check", "--allow-own-rules", "--select", select, "--output-format", "json"]
    assert codes(told(project, *arguments)) == expected


def test_own_rules_run_in_every_process(project: Path) -> None:
    for number in range(12):
        (project / f"more{number}.py").write_text(OLD)
    arguments = ["migrate", "--check", "--allow-own-rules", "--output-format", "json", "--jobs"]
    alone, together = told(project, *arguments, "1"), told(project, *arguments, "3")
    assert alone.stdout == together.stdout and len(codes(together)) == 13


def test_rules_named_on_the_command_line_take_the_place_of_the_configured_ones(project: Path) -> None:
    other = write_rule(project / "others", "ACME200", "other")
    done = told(
        project, "migrate", "--check", "--extend-rules", str(other), "--select", "ACME", "--output-format", "json"
    )
    assert codes(done) == ["ACME200", "ACME200"] and not (project / "imported").exists()


def test_an_own_rule_explains_itself(project: Path) -> None:
    shown = told(project, "rule", "X100", "--allow-own-rules")
    assert shown.returncode == 0 and "A call of `mylib.old`." in shown.stdout
    assert "X100  old-call" in told(project, "rules", "--extend-rules", "tools").stdout


def test_a_mistake_in_an_own_rule_is_a_sentence(project: Path) -> None:
    write_rule(project / "tools", "X101", "broken", more="raise OSError('no such thing')\n")
    done = told(project, "migrate", "--check", "--allow-own-rules")
    assert done.returncode == 2 and "OSError: no such thing" in done.stderr


def test_a_crash_in_an_own_rule_is_no_defect_of_torchlift(project: Path) -> None:
    rule = write_rule(project / "tools", more="\n\ndef check(use, context):\n    yield Span(use)\n")
    done = told(project, "migrate", "--check", "--allow-own-rules")
    line = len(rule.read_text().splitlines())
    said = f"It is a rule of your own: NameError: name 'Span' is not defined ({rule}:{line}). `torchlift rule --test {rule}` tries it."
    assert done.returncode == 2 and said in done.stderr and "defect" not in done.stderr
