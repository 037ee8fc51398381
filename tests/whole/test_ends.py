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
COMMANDS = [
    ("migrate --check fixtures/legacy_project", 1),
    ("doctor --facts fixtures/machines/healthy_h100.json", 0),
]


@pytest.mark.skipif(sys.platform == "win32", reason="closing a stream is a matter of POSIX shells")
@pytest.mark.parametrize(("command", "status"), COMMANDS)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
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


def test_all_of_a_long_report_reaches_a_slow_reader(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\n" + "x = torch.ger(a, b)\n" * 5000)
    command = [sys.executable, "-m", "torchlift", "migrate", "--check", "--isolated", "--output-format", "json", "."]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        time.sleep(1)
        report = json.loads(started.stdout.read())
    assert started.returncode == 1 and len(report["findings"]) == 5000


def test_a_reader_that_stops_early_gets_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\n" + "x = torch.ger(a, b)\n" * 5000)
    line = f"{shlex.quote(sys.executable)} -m torchlift migrate --check --isolated . | head -1"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "a.py" in done.stdout


def test_a_profiler_is_called_at_the_end(tmp_path: Path) -> None:
    kept = tmp_path / "profile"
    command = [sys.executable, "-m", "cProfile", "-o", str(kept), "-m", "torchlift", "rules"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and kept.stat().st_size > 1000
