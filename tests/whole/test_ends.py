"""How commands end when their streams are closed or somebody presses Ctrl-C."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONG = 400
"""Findings whose report is several times what a pipe holds."""
MIGRATE = ("migrate --check --isolated fixtures/legacy_project/shapes/data.py", 1)
COMMANDS = [
    *((*MIGRATE, closed) for closed in (">&-", "2>&-", ">&- 2>&-")),
    ("doctor --facts fixtures/machines/healthy_h100.json", 0, ">&- 2>&-"),
]


@pytest.mark.skipif(sys.platform == "win32", reason="closing a stream is a matter of POSIX shells")
@pytest.mark.parametrize(("command", "status", "closed"), COMMANDS)
def test_a_closed_stream_changes_nothing_about_the_verdict(command: str, status: int, closed: str) -> None:
    line = f"{shlex.quote(sys.executable)} -m torchlift {command} {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, done.stderr
    assert "defect" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
@pytest.mark.parametrize("command", ["migrate - --stdin-filename a.py", "doctor --facts -"])
def test_an_interrupted_command_ends_with_130_which_no_verdict_has(command: str) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "torchlift", *command.split()], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(3)
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=60)
    assert (started.returncode, errors) == (130, "Interrupted.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to send")
def test_a_command_that_is_asked_to_end_in_the_middle_of_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / f"m{number}.py").write_text("import torch\n\nx = torch.ger(a, b)\n")
    command = [sys.executable, "-m", "torchlift", "migrate", "--isolated", "--allow-no-vcs", "--select", "TL401", "."]
    started = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 240  # a loaded machine starts late
    while "outer" not in (tmp_path / "m0.py").read_text() and time.monotonic() < until:
        time.sleep(0.001)
    started.send_signal(signal.SIGTERM)
    _, errors = started.communicate(timeout=60)
    assert (started.returncode, errors) == (143, "Terminated.\n")
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert all(name.startswith("m") for name in texts)
    assert {text.partition(".")[2].partition("(")[0] for text in texts.values()} == {"outer", "ger"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_where_a_report_cannot_be_written_the_changed_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\nx = torch.ger(a, b)\ntorch.jit.load(x)\n")
    for mode, told in (
        ("--check", "No file was changed."),
        ("--diff", "No file was changed."),
        ("--allow-no-vcs", "These files were changed: a.py."),
    ):
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-m", "torchlift", "migrate", "--isolated", mode, "."]
            done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("The output could not be written: ") and told in done.stderr
    assert "outer" in (tmp_path / "a.py").read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", ["rules", "rule TL401", "plan fixtures/legacy_project"])
def test_what_cannot_be_written_is_no_defect(command: str) -> None:
    with Path("/dev/full").open("w") as full:
        line = [sys.executable, "-m", "torchlift", *command.split()]
        done = subprocess.run(line, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("The output could not be written: ") and "defect" not in done.stderr


def test_all_of_a_long_report_reaches_a_slow_reader(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\n" + "x = torch.ger(a, b)\n" * LONG)
    command = [sys.executable, "-m", "torchlift", "migrate", "--check", "--isolated", "--output-format", "json", "."]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        time.sleep(1)
        report = json.loads(started.stdout.read())
    assert started.returncode == 1 and len(report["findings"]) == LONG


def test_a_reader_that_stops_early_gets_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\n" + "x = torch.ger(a, b)\n" * LONG)
    line = f"{shlex.quote(sys.executable)} -m torchlift migrate --check --isolated . | head -1"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "a.py" in done.stdout


def test_a_profiler_is_called_at_the_end(tmp_path: Path) -> None:
    kept = tmp_path / "profile"
    command = [sys.executable, "-m", "cProfile", "-o", str(kept), "-m", "torchlift", "rules"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and kept.stat().st_size > 1000
