"""The wheel as it is built from the files that git knows, and a repository of hooks for pre-commit, once for all that install them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repositories import commit

ROOT = Path(__file__).parents[2]
BUILD = '[build-system]\nrequires = []\nbuild-backend = "built"\nbackend-path = ["."]\n'
BUILT = """
import pathlib, shutil

def build_wheel(folder, config_settings=None, metadata_directory=None):
    return pathlib.Path(shutil.copy(next(pathlib.Path(__file__).parent.glob("*.whl")), folder)).name
"""


@pytest.fixture(scope="session")
def wheel_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in files:
        if (ROOT / name).is_file():
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(source)], check=True
    )
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def hooks(wheel_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A repository with torchlift's hooks that is built into the wheel at once, and an environment for pre-commit."""
    source = tmp_path_factory.mktemp("torchlift")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", source)
    shutil.copy(wheel_file, source)
    (source / "pyproject.toml").write_text(BUILD)
    (source / "built.py").write_text(BUILT)
    commit(source)
    home = tmp_path_factory.mktemp("pre-commit")
    return source, {**os.environ, "PRE_COMMIT_HOME": str(home)}
