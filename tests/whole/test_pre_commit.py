"""The hooks, run by the real pre-commit in a real repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from repositories import git

pytestmark = pytest.mark.xdist_group("the built wheel")

MODEL = "import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n"


def run(folder: Path, *command: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=env)


def project(folder: Path, source: Path, hook: str) -> None:
    revision = git(source, "rev-parse", "HEAD")
    (folder / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {source}\n    rev: {revision}\n    hooks:\n      - id: {hook}\n"
    )
    (folder / "model.py").write_text(MODEL)
    (folder / "notes.txt").write_text("torch.ger\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")


def test_the_check_hook_fails_and_changes_nothing(hooks: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    source, env = hooks
    project(tmp_path, source, "torchlift-check")
    (tmp_path / "requirements-gpu.txt").write_text("torch==1.13.1+cu116\n")
    (tmp_path / "setup.cfg").write_text("[options]\ninstall_requires =\n    torch==1.13.1+cu116\n")
    (tmp_path / "deploy").write_text("#!/usr/bin/env python3\nimport torch\ntorch.ger(1, 2)\n")
    (tmp_path / "model.json").write_text('{"kind": "torch.jit.load"}\n')
    git(tmp_path, "add", "-A")
    done = run(tmp_path, sys.executable, "-m", "pre_commit", "run", "--all-files", env=env)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "TL401" in done.stdout and "model.py:5:12" in done.stdout
    for place in ("requirements-gpu.txt:1:", "setup.cfg:3:", "deploy:3:"):
        assert place in done.stdout
    assert "notes.txt" not in done.stdout and "model.json" not in done.stdout
    assert (tmp_path / "model.py").read_text() == MODEL


def test_the_migrate_hook_rewrites_staged_files_and_passes_next_time(
    hooks: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    source, env = hooks
    project(tmp_path, source, "torchlift-migrate")
    first = run(tmp_path, sys.executable, "-m", "pre_commit", "run", env=env)
    assert first.returncode == 1 and "files were modified by this hook" in first.stdout, first.stdout + first.stderr
    assert (tmp_path / "model.py").read_text() == MODEL.replace("ger", "outer")
    git(tmp_path, "add", "-A")
    again = run(tmp_path, sys.executable, "-m", "pre_commit", "run", env=env)
    assert again.returncode == 0, again.stdout + again.stderr
