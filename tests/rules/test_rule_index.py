"""What is kept about the rules is what the rules say, and is made anew as soon as torchlift changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import torchlift.doctor
import torchlift.migrate
import torchlift.rules
import torchlift.testing
from torchlift.rules.registry import all_rules
from torchlift.rules.rule_index import indexed_rules

# Prints the exit code, the codes found, and how many modules with rules were imported.
_RUN = """
import json, sys
from click.testing import CliRunner
from torchlift.cli import torchlift
done = CliRunner().invoke(torchlift, ["migrate", "--check", "--isolated", "--output-format", "json", sys.argv[1]])
found = [finding["code"] for finding in json.loads(done.stdout)["findings"]]
loaded = [name for name in sys.modules if name.startswith("torchlift.rules.") and name.rpartition(".")[2].startswith("tl")]
print(json.dumps([done.exit_code, found, len(loaded)]))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of torchlift that nobody else uses, with the rules of one family: all of them take a second to import."""
    package = tmp_path / "copy" / "torchlift"
    for folder in (torchlift, torchlift.migrate, torchlift.rules, torchlift.doctor, torchlift.testing):
        place = package.joinpath(*folder.__name__.split(".")[1:])
        unwanted = shutil.ignore_patterns("rule_index*.pickle")  # what is compiled stays: the times of files do, too
        shutil.copytree(next(iter(folder.__path__)), place, ignore=unwanted, dirs_exist_ok=True)
    for family in ("behaviour", "cpp", "distributed", "torchscript"):
        for rule in (package / "rules" / family).rglob("tl*.py"):
            rule.unlink()
    return package


def run(copy: Path, project: Path, **environment: str) -> tuple[int, list[str], int]:
    around = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(project)],
        capture_output=True,
        text=True,
        check=True,
        cwd=project.parent,
        env={**around, "PYTHONPATH": str(copy.parent), **environment},
    )
    code, found, loaded = json.loads(done.stdout)
    return code, found, loaded


def test_a_second_run_imports_the_rules_that_it_needs(copy: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("import torch\n\nx = torch.ger(a, b)\n")
    first, second = run(copy, project), run(copy, project)
    assert first[:2] == second[:2] == (1, ["TL401"])
    assert first[2] > 40 and second[2] < 5

    rule = next((copy / "rules").rglob("tl401_*.py"))
    rule.write_text(rule.read_text() + "\n# changed\n")
    assert run(copy, project)[2] > 40 and run(copy, project) == second

    (kept,) = copy.rglob("rule_index*.pickle")
    kept.write_bytes(b"not a pickle")
    assert run(copy, project) == first and run(copy, project) == second


def test_without_a_place_to_keep_it_every_rule_is_imported_as_before(copy: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("import torch\n\nx = torch.ger(a, b)\n")
    code, found, loaded = run(copy, project, PYTHONDONTWRITEBYTECODE="1")
    assert (code, found) == (1, ["TL401"]) and loaded > 40
    assert not [*copy.rglob("rule_index*.pickle")]
    run(copy, project)
    (kept,) = copy.rglob("rule_index*.pickle")
    kept.unlink()
    kept.mkdir()
    assert run(copy, project)[:2] == (1, ["TL401"])


@pytest.mark.parametrize("code", all_rules())
def test_what_is_known_of_a_rule_is_what_it_says(code: str) -> None:
    rule, known = all_rules()[code], indexed_rules()[code]
    for field in (
        "code", "name", "summary", "why", "fix", "targets", "sources", "severity", "deprecated", "removed", "triggers",
        "words", "aliases", "default", "sees_guarded", "text_triggers", "text_kinds",
    ):  # fmt: skip
        assert getattr(known, field) == getattr(rule, field), field
    for field in ("check", "text", "matters", "applies", "gives_way"):
        assert (getattr(known, field) is None) == (getattr(rule, field) is None), field
    assert [(c.name, c.triggers, c.targets, c.reads_text) for c in known.collectors] == [
        (c.name, c.triggers, c.targets, c.reads_text) for c in rule.collectors
    ]
    if rule.gives_way is not None and known.gives_way is not None:
        assert known.gives_way(rule.targets) == rule.gives_way(rule.targets) == rule.triggers
