"""`torchlift evidence`: what no run reached comes first, what changed since is told, two files become one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from recorded_evidence import place_of, proof, site, source, value

from torchlift.cli import torchlift
from torchlift.evidence.file import write_evidence
from torchlift.evidence.rebase import seen_from
from torchlift.evidence.records import (
    FailedCapture,
    RecordedCall,
    RecordedEvidence,
    RecordedJob,
    RecordedLoad,
    RecordedTransfer,
    RecordingProblem,
    Touch,
)

NET = """import torch
import torch.distributed as dist


class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1


def export(model, x):
    return torch.jit.trace(model, x)


@torch.jit.script
def scale(x):
    return x * 2


def serve(path):
    return torch.jit.load(path)


def ring(x):
    dist.send(x, dst=1)
    dist.recv(x, src=1)
"""
FILES = {"net.py": NET}


def recorded() -> RecordedEvidence:
    one = value(source(FILES, "net.py", "Net"), operations=[Touch("eval", ["net.py:30:1"])])
    one.calls.append(
        RecordedCall("forward", ["float32[2]", {"str": "relu"}, {"tuple": [1, None]}], {"k": {"str": 57}}, via="load")
    )
    capture = site(FILES, "net.py", "torch.jit.trace", "torch.jit.trace", one, tests=["t.py::a"])
    load, send = place_of(NET, "torch.jit.load"), place_of(NET, "dist.send")
    return RecordedEvidence(
        torch="2.13.0",
        command=["pytest", "tests"],
        sites=[capture],
        loads=[RecordedLoad(f"net.py:{load.line}:{load.column}", torchscript=True)],
        distributed=[
            RecordedJob(1, "gloo"),
            RecordedJob(2, "gloo", sequence=[RecordedTransfer(0, "send", 1, site=f"net.py:{send.line}:{send.column}")]),
        ],
        problems=[RecordingProblem("a call whose inputs cannot be copied", "PicklingError", "net.py:9:1")],
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "p"\n')
    (tmp_path / "net.py").write_text(NET)
    write_evidence(tmp_path / ".torchlift" / "evidence.json", recorded())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(torchlift, ["evidence", *arguments])


def test_what_no_run_reached_comes_first(project: Path) -> None:
    result = run("show")
    assert result.exit_code == 0
    assert result.output.splitlines()[:5] == [
        "3 of 5 known places were reached by `pytest tests` (torch 2.13.0).",
        "",
        "Not reached (2):",
        "  net.py:14  torch.jit.script",
        "  net.py:25  torch.distributed.recv in ring",
    ]
    assert "  net.py:11  torch.jit.trace in export: 5 calls; export " in result.output
    assert "  net.py:9:1: a call whose inputs cannot be copied (PicklingError)" in result.output


def test_one_place_is_shown_with_its_calls_and_what_follows(project: Path) -> None:
    result = run("show", "net.py:11")
    assert result.exit_code == 0
    for line in (
        "net.py:11:12  torch.jit.trace in export",
        "Tests that reach it: t.py::a",
        "Value 1: module net:Net, captured in eval mode",
        "  2x forward(float32[4,3])",
        "  1x forward(float32[2], 'relu', (1, None), k=a string of 57 characters) on a loaded copy",
        "  .eval at net.py:30:1",
        "  export as given: equal",
        "An exported program in its place: for review (as given), `forward`'s args[1] was 'relu' in every recorded call, and may be fixed at it",
    ):
        assert line in result.output.splitlines(), line


def test_a_place_of_which_nothing_is_known_is_an_error(project: Path) -> None:
    result = run("show", "net.py:99")
    assert result.exit_code == 2
    assert "Nothing was recorded at net.py:99; `torchlift evidence show` lists what was." in result.output


def test_check_fails_as_long_as_something_is_not_reached(project: Path) -> None:
    result = run("check")
    assert result.exit_code == 1
    assert "Not reached (2):" in result.output
    (project / "net.py").write_text(NET.partition("@torch.jit.script")[0])
    result = run("check")
    assert (result.exit_code, result.output) == (
        0,
        "1 of 1 known places were reached by `pytest tests` (torch 2.13.0).\n",
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x + 1", "x + 2", "  net.py:11  torch.jit.trace: `Net` is another"),
        ("(model, x)\n\n", "(model, [x])\n\n", "  net.py  torch.jit.trace, then on line 11: this call is gone"),
    ],
)
def test_check_fails_where_the_source_changed_since(project: Path, old: str, new: str, said: str) -> None:
    (project / "net.py").write_text(NET.replace(old, new))
    result = run("check")
    assert result.exit_code == 1
    assert said in result.output.splitlines()


def test_a_capture_that_raised_is_told_as_broken(project: Path) -> None:
    failed = site(
        FILES, "net.py", "torch.jit.trace", "torch.jit.trace", failed=[FailedCapture("RuntimeError", "no device")]
    )
    write_evidence(project / "e.json", RecordedEvidence(sites=[failed]))
    assert "  net.py:11  torch.jit.trace: RuntimeError: no device" in run("show", "--evidence", "e.json").output


def test_two_files_become_one(project: Path) -> None:
    other = recorded()
    other.sites[0].values[0].proof = proof("fixed shapes")
    write_evidence(project / "other.json", other)
    both = run("merge", ".torchlift/evidence.json", "other.json")
    assert len(json.loads(both.output)["sites"][0]["values"]) == 2
    assert run("merge", ".torchlift/evidence.json", "other.json", "-o", "out/both.json").exit_code == 0
    assert (project / "out" / "both.json").read_text() == both.output


def test_a_configured_file_is_taken_and_an_option_wins(project: Path) -> None:
    (project / ".torchlift" / "evidence.json").rename(project / "runs.json")
    assert "cannot be read" in run("show").output
    (project / "torchlift.toml").write_text('evidence = "runs.json"\n')
    assert run("show").exit_code == 0
    assert "none.json cannot be read" in run("show", "--evidence", "none.json").output


def test_a_plan_says_what_was_reached_and_proven(project: Path) -> None:
    (project / "net.py").write_text(
        NET.replace("def ring", "def other(m, x):\n    return torch.jit.trace(m, x)\n\n\ndef ring")
    )
    proven = recorded()
    proven.sites[0].values[0].calls.pop()
    proven.sites[0].values[0].operations.clear()
    proven.sites[0].scope_sha = place_of((project / "net.py").read_text(), "torch.jit.trace").scope_sha
    write_evidence(project / ".torchlift" / "evidence.json", proven)
    plan = [*_PLAN, "--evidence", ".torchlift/evidence.json"]
    said = CliRunner().invoke(torchlift, plan).output
    assert "What recorded runs say\n  2 of 6 known places were reached; 1 finding has a fix that is proven\n" in said
    assert "  not reached: net.py:14, net.py:24, net.py:28, net.py:29\n" in said
    told = json.loads(CliRunner().invoke(torchlift, [*plan, "--format", "json"]).output)["evidence"]
    assert (told["known"], told["reached"], told["proven"], told["outdated"]) == (6, 2, 1, [])
    assert "recorded runs" not in CliRunner().invoke(torchlift, _PLAN).output


_PLAN = ["plan", ".", "--min-torch", "2.9"]
_LOADED = """
import sys
from torchlift.migrate.cli import migrate
try:
    migrate.main(sys.argv[1:])
except SystemExit:
    pass
print(sorted(name for name in sys.modules if name == "torch" or name.startswith("torchlift.evidence")), file=sys.stderr)
"""


def loaded(*arguments: str) -> tuple[str, str]:
    """What a run says, and which modules it has loaded in the end."""
    command = [sys.executable, "-c", _LOADED, "--check", "--min-torch", "2.9", "--output-format", "json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr.splitlines()[-1]


def test_a_run_without_evidence_does_not_look_for_any_and_one_with_evidence_imports_no_torch(project: Path) -> None:
    before = loaded(".")
    (project / ".torchlift" / "evidence.json").unlink()
    assert loaded(".") == before
    assert before[1] == "[]"
    write_evidence(project / "runs.json", recorded())
    said, modules = loaded(".", "--evidence", "runs.json")
    assert json.loads(said)["evidence"] == "runs.json"
    assert "torchlift.evidence.conclusions" in modules
    assert "'torch'" not in modules


def test_a_project_in_a_folder_of_the_repository_finds_what_was_recorded_for_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "packages" / "net"
    package.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (package / "pyproject.toml").write_text('[project]\nname = "p"\n')
    (package / "net.py").write_text(NET)
    monkeypatch.chdir(package)
    write_evidence(tmp_path / ".torchlift" / "evidence.json", seen_from(recorded(), "../.."))
    of_the_folder = run("show")
    assert (of_the_folder.exit_code, of_the_folder.output.splitlines()[0]) == (
        0,
        "3 of 5 known places were reached by `pytest tests` (torch 2.13.0).",
    )

    # A file of its own is preferred, with paths as they are.
    write_evidence(package / ".torchlift" / "evidence.json", recorded())
    assert run("show").output == of_the_folder.output
