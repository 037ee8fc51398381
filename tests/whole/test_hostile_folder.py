"""Commands run in a folder whose files have the names of modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODULES = ["click", "libcst", "packaging", "pathspec", "tomli", "pynvml", "ast", "json", "torch"]


@pytest.mark.parametrize("arguments", [["rules"], ["migrate", "--check", "--isolated", "used.py"]], ids=lambda a: a[0])
def test_python_m_runs_no_module_of_the_working_directory(tmp_path: Path, arguments: list[str]) -> None:
    for name in MODULES:
        (tmp_path / f"{name}.py").write_text("open('marker', 'w')\n")
    (tmp_path / "used.py").write_text("import torch\n\nx = torch.ger(a, b)\n")
    done = subprocess.run(
        [sys.executable, "-m", "torchlift", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == (1 if "migrate" in arguments else 0), done.stderr
    assert not (tmp_path / "marker").exists()


def test_too_many_braces_on_the_command_line_are_a_sentence(tmp_path: Path) -> None:
    arguments = ["migrate", "--check", "--isolated", "--exclude", "{a,b}" * 18, "."]
    done = subprocess.run(
        [sys.executable, "-m", "torchlift", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "its braces stand for more than 1000 patterns; write fewer of them." in done.stderr
