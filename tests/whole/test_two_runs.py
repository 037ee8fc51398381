"""Two runs over one tree at the same time: every file is whole, and who came second says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

OLD, NEW = "import torch\nx = torch.ger(a, b)\n", "import torch\nx = torch.outer(a, b)\n"


@pytest.mark.exhaustive
def test_two_runs_at_once_leave_every_file_new_and_nothing_beside(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"m{number}.py").write_text(OLD)
    command = [sys.executable, "-m", "torchlift", "migrate", ".", "--isolated", "--allow-no-vcs", "--min-torch", "2.13"]
    environment = {**os.environ, "TORCHLIFT_CACHE_DIR": str(tmp_path / ".cache")}
    runs = [
        subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    told = [run.communicate(timeout=300) for run in runs]
    assert {path.read_text() for path in tmp_path.glob("*.py")} == {NEW}
    assert list(tmp_path.glob(".torchlift-*")) == []
    for run, (out, err) in zip(runs, told, strict=True):
        assert "Traceback" not in out + err
        # What the other run wrote between reading and writing is named, and is no defect.
        assert run.returncode == (2 if "changed by another program" in out + err else 0), out + err
