"""What recorded runs prove is tried by a command, too: both together keep what both find well."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import tried_project as project
from recorded_evidence import site, value

from torchlift.evidence.file import write_evidence
from torchlift.evidence.records import RecordedCall, RecordedEvidence

SCORES = """\
import torch


@torch.jit.script
def scale(x, n: int):
    return x * n


@torch.jit.script
def shift(x, n: int):
    return x + n


@torch.jit.script
def phase(x, n: int):
    return x % n
"""
# Enough of it for the program below, since seven runs of the real one take long.
STAND_IN = "class jit:\n    def script(function):\n        function.graph = 'graph()'\n        return function\n"
CHECK = "import scores\n\nassert scores.scale(2, 3) + scores.shift(2, 3) == 11\nassert 'graph' in vars(vars(scores)['shift'])\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "copies"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)
    return tmp_path


def torchlift(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "torchlift", *words]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def findings(done: subprocess.CompletedProcess[str]) -> dict[str, tuple[str, bool, str]]:
    """Safety of the fix, whether it was fixed, and who dropped it, by place."""
    return {
        f"{Path(found['filename']).name}:{found['location']['row']}": (
            (found["fix"] or {}).get("applicability", ""),
            found["fixed"],
            (found["dropped"] or {}).get("by", ""),
        )
        for found in json.loads(done.stdout)["findings"]
    }


def test_of_what_runs_proved_the_command_keeps_what_it_does_not_notice(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody asked for the graph of `shift` in the recorded run, and nothing was recorded of `phase`."""
    files = {
        "scores.py": SCORES,
        "check.py": CHECK,
        "pyproject.toml": '[project]\nname = "s"\ndependencies = ["torch>=2.9"]\n',
    }
    folder = project.write_project(here / "p", (), files)
    (here / "site").mkdir()
    (here / "site/torch.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(here / "site"))
    calls = [RecordedCall("forward", [f"float32[{rows}]", rows]) for rows in (2, 5)]
    recorded = [
        site(
            files, "scores.py", f"torch.jit.script\ndef {name}", "torch.jit.script", value(calls=calls, kind="function")
        )
        for name in ("scale", "shift")
    ]
    write_evidence(here / "evidence.json", RecordedEvidence(torch="2.13.0", sites=recorded))
    command = f'"{sys.executable}" check.py'
    words = ("--evidence", str(here / "evidence.json"), "--verify", command, "--output-format", "json")
    done = torchlift(folder, "migrate", *words)
    assert done.returncode == 1, done.stderr
    assert findings(done) == {
        "scores.py:4": ("proven", True, ""),
        "scores.py:8": ("", False, "the command"),
        "scores.py:13": ("unsafe", False, ""),
    }
    assert (folder / "scores.py").read_text() == SCORES.replace("@torch.jit.script\ndef scale", "def scale")


SCORER = """\
import torch


class Scorer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def write(model, example, path):
    torch.jit.trace(model, example).save(path)


def read(path):
    return torch.jit.load(path)


def fast(model):
    return torch.jit.script(model)
"""
TESTS = """\
import torch
from scorer import Scorer, fast, read, write


def test_recorded(tmp_path):
    model = Scorer().eval()
    write(model, torch.rand(4, 3), tmp_path / "scorer.pt")
    scorer, scripted = read(tmp_path / "scorer.pt"), fast(model)
    for rows in (4, 9):
        x = torch.rand(rows, 3)
        torch.testing.assert_close(scorer(x), model(x))
        torch.testing.assert_close(scripted(x), model(x))


def test_not_recorded(tmp_path):
    write(Scorer().eval(), torch.rand(4, 3), tmp_path / "scorer.pt")
    assert torch.jit.load(tmp_path / "scorer.pt")(torch.rand(2, 3)).shape == (2,)
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "fork"), reason="proofs are made in forks")
def test_what_was_recorded_proven_and_applied_is_verified(here: Path) -> None:
    """A reader that the recorded run did not reach makes the command fail, and the pair of writer and reader is dropped."""
    files = {"scorer.py": SCORER, "tests/test_scorer.py": TESTS}
    folder = project.write_project(here / "p", (), files)
    (folder / ".gitignore").write_text("__pycache__\n.torchlift\n")
    command = project.pytest_command()
    recorded = torchlift(folder, "record", "--", "sh", "-c", f"{command} -k test_recorded")
    assert "torch.export proved equal for 2 of 2 values" in recorded.stderr
    words = ("migrate", "--min-torch", "2.9", "--evidence", ".torchlift/evidence.json", "--output-format", "json")
    patch = torchlift(folder, *words, "--diff").stdout
    assert "+    return torch.export.load(path).module()" in patch and "+    return model" in patch
    done = torchlift(folder, *words, "--verify", command)
    assert done.returncode == 1, done.stderr
    test = "`tests/test_scorer.py::test_not_recorded`"
    assert findings(done) == {
        "scorer.py:14": ("", False, test),
        "scorer.py:18": ("", False, test),
        "scorer.py:22": ("proven", True, ""),
        "test_scorer.py:17": ("", False, ""),
    }
    assert (folder / "scorer.py").read_text() == SCORER.replace("return torch.jit.script(model)", "return model")
