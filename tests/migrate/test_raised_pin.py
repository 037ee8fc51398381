"""An exact pin and the fixes that it holds back move in one run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from torchlift.migrate.cli import migrate

CODE = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
FIXED = 'import torch\n\nscaler = torch.amp.GradScaler("cuda")\n'


def put(folder: Path, **pins: str) -> None:
    (folder / "a.py").write_text(CODE)
    for name, text in pins.items():
        (folder / name.replace("_", ".")).write_text(text)


def run(folder: Path, *arguments: str) -> str:
    done = CliRunner().invoke(migrate, [*arguments, "--no-cache", "--allow-no-vcs", str(folder)])
    assert done.exit_code in {0, 1}, done.output
    return done.output


def test_fixes_that_the_raised_pin_allows_are_made_in_the_same_run_and_the_next_changes_nothing(tmp_path: Path) -> None:
    put(tmp_path, requirements_txt="numpy\ntorch==2.0.1\n")
    said = run(tmp_path, "--unsafe-fixes")
    assert (tmp_path / "requirements.txt").read_text() == "numpy\ntorch==2.15.0\n"
    assert (tmp_path / "a.py").read_text() == FIXED
    assert "requirements.txt:2 pinned torch 2.0.1; the pin moves to 2.15 in this run" in said
    run(tmp_path, "--unsafe-fixes")
    assert (tmp_path / "a.py").read_text() == FIXED


@pytest.mark.parametrize("arguments", [["--check", "--unsafe-fixes"], ["--unsafe-fixes", "--select", "TL4"]])
def test_where_the_pin_stays_what_it_holds_back_stays(tmp_path: Path, arguments: list[str]) -> None:
    put(tmp_path, requirements_txt="torch==2.0.1\n")
    said = run(tmp_path, *arguments)
    assert "GradScaler" in said and (tmp_path / "a.py").read_text() == CODE
    assert "requirements.txt:1 asks for torch 2.0.1" in said


def test_what_the_raised_pin_makes_fail_is_still_told(tmp_path: Path) -> None:
    put(tmp_path, requirements_txt="torch==2.1.0\n")
    (tmp_path / "load.py").write_text("import torch\n\n\ndef load(path):\n    return torch.load(path)\n")
    assert "TL501" in run(tmp_path, "--unsafe-fixes")
    assert "TL501" in run(tmp_path, "--unsafe-fixes", "--check")
    (tmp_path / "requirements.txt").write_text("torch>=2.6\n")
    assert "TL501" not in run(tmp_path, "--unsafe-fixes", "--check")
