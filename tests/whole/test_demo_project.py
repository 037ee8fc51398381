"""The demo project works before and after its migration, and serves the same predictions."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repositories import commit
from torch_programs import TorchPrograms

pytestmark = pytest.mark.xdist_group("the demo project")

DEMO = Path(__file__).parents[2] / "fixtures/legacy_project"
PREDICT = """
import json
from shapes.train import main
from shapes.export import export
from shapes.serve import predict
from shapes.data import make_batch

main()
export()
result = json.dumps([predict(make_batch(n, seed=n)[0]).tolist() for n in (4, 7, 1)])
"""
OWN_TESTS = """
import contextlib, io, pytest

with contextlib.redirect_stdout(io.StringIO()) as said:
    failed = int(pytest.main(["-q", "-p", "no:cacheprovider", "."]))
result = (failed, said.getvalue() if failed else "")
"""


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The demo as it is, and after `torchlift migrate`."""
    folders = []
    for name in ("before", "after"):
        folder = tmp_path_factory.mktemp(name) / "demo"
        shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache", "*.pt", "*.pt2"))
        commit(folder)
        folders.append(folder)
    done = subprocess.run(
        [sys.executable, "-m", "torchlift", "migrate", "."], cwd=folders[1], capture_output=True, text=True, check=False
    )
    assert done.returncode in {0, 1} and "Fixed" in done.stderr, done.stdout + done.stderr
    return folders[0], folders[1]


def test_the_safe_fixes_leave_no_torchscript_call(projects: tuple[Path, Path]) -> None:
    _, after = projects
    code = "".join(path.read_text() for path in (after / "shapes").glob("*.py"))
    assert "torch.jit" not in code and "torch.ger" not in code
    assert "torch.export.load" in code and "Dim.AUTO" in code


@pytest.mark.parametrize(
    "index", [pytest.param(0, id="before", marks=pytest.mark.exhaustive), pytest.param(1, id="after")]
)
def test_its_own_tests_pass(projects: tuple[Path, Path], index: int, torch_programs: TorchPrograms) -> None:
    assert torch_programs.run(projects[index], {}, OWN_TESTS) == ["tuple", [["int", 0], ["str", ""]]]


def test_it_serves_the_same_predictions(projects: tuple[Path, Path], torch_programs: TorchPrograms) -> None:
    old, new = (json.loads(torch_programs.run(folder, {}, PREDICT)[1]) for folder in projects)
    assert [len(batch) for batch in new] == [4, 7, 1]
    for old_batch, new_batch in zip(old, new, strict=True):
        for old_row, new_row in zip(old_batch, new_batch, strict=True):
            assert new_row == pytest.approx(old_row, abs=1e-6)


def test_a_second_run_changes_nothing(projects: tuple[Path, Path]) -> None:
    _, after = projects
    before = {path: path.read_bytes() for path in after.rglob("*.py")}
    subprocess.run([sys.executable, "-m", "torchlift", "migrate", ".", "--allow-dirty"], cwd=after, check=False)
    assert {path: path.read_bytes() for path in after.rglob("*.py")} == before


def test_the_readme_shows_what_the_migration_really_prints() -> None:
    root = Path(__file__).parents[2]
    text = (root / "README.md").read_text(encoding="utf-8")
    shown = text[text.index("```diff\n") + len("```diff\n") :].partition("```\n")[0]
    done = subprocess.run(
        [sys.executable, "-m", "torchlift", "migrate", "fixtures/legacy_project", "--diff"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    blocks = [f"--- a/{block}" for block in shown.split("--- a/")[1:]]
    assert len(blocks) == 2 and all(block in done.stdout for block in blocks)
    assert done.stderr.strip() in text
