"""What keeps a release, before anything is built."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tarfile
import zipfile
from importlib.metadata import requires
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

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


def test_a_release_is_tested_built_checked_opened_and_tried_and_what_is_left_is_said(
    release: ModuleType, wheel_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = (ROOT / "src/torchlift/__init__.py").read_text().partition('__version__ = "')[2].partition('"')[0]
    root, built = tmp_path / "clone", tmp_path / "built"
    for name in ("src/torchlift/__init__.py", "CHANGELOG.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "fixtures/legacy_project", root / "fixtures/legacy_project")
    changes = (root / "CHANGELOG.md").read_text()
    (root / "CHANGELOG.md").write_text(changes.replace(f"## {version} (unreleased)", f"## {version} (2026-12-01)"))
    ran: list[str] = []

    def told(*command: str | Path, cwd: Path = root, allowed: object = (0,)) -> str:
        words = [str(word) for word in command]
        said = (
            " ".join([Path(words[0]).name, *words[1:]]).replace(str(tmp_path), "").replace(str(wheel_file.parent), "")
        )
        ran.append(said)
        if "build" in words:
            built.mkdir()
            shutil.copy(wheel_file, built)
            with tarfile.open(built / f"torchlift-{version}.tar.gz", "w:gz") as archive:
                for name in ("README.md", "LICENSE", "pyproject.toml", "setup.py"):
                    archive.add(ROOT / name, f"torchlift-{version}/{name}")
        if said == "git ls-files":
            return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return {"--version": f"torchlift {version}", "migrate": "TL101"}.get(
            words[-1] if len(words) < 3 else words[1], ""
        )

    monkeypatch.setattr(release, "ROOT", root)
    monkeypatch.setattr(release, "told", told)
    left = release.ready(version, built, tests=True)
    steps = [
        "git status --porcelain", "git tag", "run", "-m build --outdir", "-m twine check --strict", "git ls-files", "-m pip install",
        "torchlift --version", "torchlift migrate --check", "doctor --gpu", "torchlift help",
    ]  # fmt: skip
    assert len(ran) == len(steps)
    assert all(step in command for step, command in zip(steps, ran, strict=True)), ran
    assert f"git tag --sign v{version}" in left and "twine upload" in left
    needed = [
        one for one in map(Requirement, requires("torchlift") or ()) if one.marker and "release" in str(one.marker)
    ]
    assert sorted(one.name for one in needed) == ["build", "twine"]
