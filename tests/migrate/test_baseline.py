"""A baseline as a team uses it: what is known is not listed and does not fail, whatever moves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import told

OLD = "import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n"
MORE = f"{OLD}\n\ndef g(a, b):\n    return torch.ger(b, a)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "p"\ndependencies = ["torch>=2.6"]\n')
    (tmp_path / "a.py").write_text(OLD)
    (tmp_path / "b.py").write_text("from torch import ger\n")
    done = told(tmp_path, "migrate", "--check", "--write-baseline", ".")
    assert done.returncode == 0 and done.stdout == "", done.stderr
    assert "The baseline .torchlift-baseline.json has 2 findings." in done.stderr
    return tmp_path


BASELINE = ("--baseline", ".torchlift-baseline.json")


def test_what_is_known_is_counted_and_does_not_fail(project: Path) -> None:
    done = told(project, "migrate", "--check", ".", *BASELINE)
    assert done.returncode == 0 and done.stdout == ""
    assert "Nothing new to migrate in 3 files" in done.stderr
    assert "2 findings are in the baseline and not listed." in done.stderr
    report = json.loads(told(project, "migrate", "--check", ".", *BASELINE, "--output-format", "json").stdout)
    assert report["findings"] == [] and report["summary"]["known"] == 2


def test_only_the_new_finding_is_listed_when_lines_have_moved(project: Path) -> None:
    (project / "a.py").write_text('"""Moved."""\n\n' + MORE)
    done = told(project, "migrate", "--check", ".", *BASELINE, "--output-format", "concise")
    assert done.returncode == 1
    assert [line.split(" ")[0] for line in done.stdout.splitlines()] == ["a.py:11:12:"]


def test_the_edits_that_json_lists_are_those_of_the_findings_it_lists(project: Path) -> None:
    (project / "a.py").write_text(MORE)
    text = told(project, "migrate", "--check", ".", *BASELINE, "--output-format", "json").stdout
    [finding] = json.loads(text)["findings"]
    assert finding["fix"]["edits"][0]["location"] == finding["location"] == {"row": 9, "column": 12}


def test_what_is_gone_is_said_and_taken_out_on_demand(project: Path) -> None:
    (project / "b.py").unlink()
    (project / "a.py").write_text(OLD.replace("ger", "outer"))
    done = told(project, "migrate", "--check", ".", *BASELINE)
    assert "2 findings of the baseline are gone: `--write-baseline` takes them out." in done.stderr
    done = told(project, "migrate", "--check", ".", "--write-baseline")
    assert "has 0 findings; 2 that are gone were taken out." in done.stderr
    assert json.loads((project / ".torchlift-baseline.json").read_text()) == {"schema_version": 2, "findings": {}}


def test_files_and_rules_that_were_not_looked_at_keep_their_place(project: Path) -> None:
    before = (project / ".torchlift-baseline.json").read_bytes()
    for arguments in (["a.py"], [".", "--select", "TL1"]):
        assert "gone" not in told(project, "migrate", "--check", *arguments, *BASELINE).stderr
        told(project, "migrate", "--check", *arguments, "--write-baseline")
        assert (project / ".torchlift-baseline.json").read_bytes() == before


def test_a_look_at_files_outside_of_the_project_takes_nothing_out(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "c.py"
    other.write_text(OLD)
    done = told(project, "migrate", "--check", str(other), *BASELINE)
    assert done.returncode == 1 and "gone" not in done.stderr
    done = told(project, "migrate", "--check", str(other), *BASELINE, "--write-baseline")
    assert "has 3 findings." in done.stderr


def test_fixes_are_applied_to_what_is_known_as_to_all_else(project: Path) -> None:
    done = told(project, "migrate", ".", *BASELINE, "--allow-no-vcs")
    assert done.returncode == 0 and "outer" in (project / "a.py").read_text()
    assert "2 findings of the baseline are gone" in done.stderr


def test_what_is_known_of_a_line_stays_known_when_another_rule_rewrites_the_line(project: Path) -> None:
    both = "import torch\n\n\ndef f(a, b, path):\n    return torch.qr(a), torch.ger(a, torch.ger(b, a))\n"
    (project / "a.py").write_text(both)
    told(project, "migrate", "--check", ".", "--write-baseline")
    done = told(project, "migrate", ".", "--select", "TL401", *BASELINE, "--allow-no-vcs")
    assert "torch.qr(a), torch.outer(a, torch.outer(b, a))" in (project / "a.py").read_text(), done.stderr
    done = told(project, "migrate", "--check", ".", *BASELINE)
    assert done.returncode == 0 and "1 finding is in the baseline" in done.stderr, done.stdout
    assert "gone" in done.stderr  # those of `ger`
    (project / "a.py").write_text((project / "a.py").read_text() + "\n\nnew = torch.qr\n")
    done = told(project, "migrate", "--check", ".", *BASELINE, "--output-format", "concise")
    assert [line.split(" ")[0] for line in done.stdout.splitlines()] == ["a.py:8:7:"]


def test_a_baseline_of_the_first_schema_is_read_and_written_anew(project: Path) -> None:
    file = project / ".torchlift-baseline.json"
    now = json.loads(file.read_text())
    old = {path: [entry.rpartition(" ")[0] for entry in entries] for path, entries in now["findings"].items()}
    file.write_text(json.dumps({"schema_version": 1, "findings": old}))
    assert told(project, "migrate", "--check", ".", *BASELINE).returncode == 0
    told(project, "migrate", "--check", ".", "--write-baseline")
    assert json.loads(file.read_text()) == now


def test_the_configuration_may_name_it_from_where_it_stands(project: Path) -> None:
    (project / ".torchlift-baseline.json").rename(project / "known.json")
    with (project / "pyproject.toml").open("a") as file:
        file.write('[tool.torchlift]\nbaseline = "known.json"\n')
    (project / "sub").mkdir()
    assert told(project / "sub", "migrate", "--check", "..").returncode == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "There is no baseline"),
        ("{", "is not JSON"),
        ("[]", "cannot be used"),
        ('{"schema_version": 3}', "has schema 3, and this torchlift reads schema 2"),
        ('{"schema_version": 1, "findings": {"a.py": [1]}}', "cannot be used"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_said_before_a_file_is_written(
    project: Path, content: str | None, said: str
) -> None:
    if content is not None:
        (project / "other.json").write_text(content)
    done = told(project, "migrate", ".", "--baseline", "other.json", "--allow-no-vcs")
    assert done.returncode == 2 and said in done.stderr
    assert (project / "a.py").read_text() == OLD


def test_a_baseline_that_cannot_be_written_is_a_failure_beside_the_findings(project: Path) -> None:
    done = told(project, "migrate", "--check", ".", "--write-baseline", "--baseline", "a.py/b.json")
    assert done.returncode == 2 and "baseline: it cannot be written" in done.stderr and "TL401" in done.stdout
    assert told(project, "migrate", "--diff", ".", "--write-baseline").returncode == 2
