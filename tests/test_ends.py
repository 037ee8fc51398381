"""How commands end when their streams are closed or somebody presses Ctrl-C."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
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
