from __future__ import annotations

import venv
from pathlib import Path

import pytest
from made_environments import Environment


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    root = tmp_path / "env"
    venv.EnvBuilder(symlinks=True, with_pip=False).create(root)
    return Environment(root, next(root.glob("lib/python*/site-packages")))
