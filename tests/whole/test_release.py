"""What keeps a release, before anything is built."""

from __future__ import annotations

import importlib.util
import subprocess
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.xdist_group("the built wheel")

ROOT = Path(__file__).parents[2]
DATED = "# Changelog\n\n## 0.2.0 (2026-12-01)\n\n- New.\n\n## 0.1.0 (2026-11-01)\n\n- Old.\n"


@pytest.fixture(scope="module")
def release() -> ModuleType:
    found = importlib.util.spec_from_file_location("release", ROOT / "scripts/release.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_notes_of_a_release_are_what_the_changelog_says_about_it(release: ModuleType) -> None:
    assert release.changes_of("0.2.0", DATED) == "- New."


@pytest.mark.parametrize(
    ("version", "changelog", "said"),
    [
        ("0.3.0", DATED, "is not about 0.3.0"),
        ("0.2.0", DATED.replace("2026-12-01", "unreleased"), "gives 0.2.0 no date"),
        ("0.2.0", DATED.replace("- New.", ""), "says nothing about 0.2.0"),
    ],
)
def test_a_changelog_that_is_not_ready_keeps_the_release(
    release: ModuleType, version: str, changelog: str, said: str
) -> None:
    with pytest.raises(release.NotReady, match=said):
        release.changes_of(version, changelog)


def test_a_wheel_is_held_against_what_the_repository_has(release: ModuleType, wheel_file: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    names = zipfile.ZipFile(wheel_file).namelist()
    assert release.wheel_problems(names, tracked) == []
    without = [name for name in names if name not in ("torchlift/cli.py", "torchlift/rules/rule.py")]
    spoilt = [*without, "tests/test_a.py", "torchlift/__pycache__/a.pyc"]
    assert release.wheel_problems(spoilt, tracked) == [
        "The wheel holds tests/test_a.py, which is not below torchlift.",
        "The wheel holds torchlift/__pycache__/a.pyc.",
        "The wheel lacks rules/rule.py.",
        "The wheel lacks src/torchlift/cli.py.",
    ]


def test_a_version_that_is_not_stated_keeps_the_release(release: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(release.NotReady, match=r"is not 99\.0\."):
        release.ready("99.0", tmp_path, tests=False)
