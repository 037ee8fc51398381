"""Pages of the documentation do what they say: every command of every page is run, here or by the test that is named."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from executed_page import blocks, commands, follow, walk
from repositories import commit, git

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DEMO = ROOT / "fixtures/legacy_project"
NAMES = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}
ELSEWHERE = {
    "README.md": "tests/whole/test_demo_project.py",
    "docs/evidence.md": "tests/whole/test_executed_pages.py",
    "docs/verify.md": "tests/whole/test_executed_pages.py",
    "docs/convert.md": "tests/whole/test_executed_pages.py",
    "docs/start.md": "tests/whole/test_executed_pages.py",
    "docs/testing.md": "tests/testing/test_testing_documented.py",
}
"""Pages whose commands belong to files that they show, and the tests that run them."""
NOT_RUN = {
    "pip install": "takes packages from an index",
    "python3 -m venv": "takes packages from an index; the automation runs it",
    ".venv/bin/": "runs the tests themselves",
    ".ci/run": "runs the tests themselves",
    "torchlift survey list.txt --engine dask": "needs a scheduler; tests/survey has one",
}
"""Commands by their beginning, and why no test runs them."""


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "fork"), reason="proofs are made in forks")
def test_evidence_is_recorded_and_applied_as_the_page_says(tmp_path: Path) -> None:
    page = (DOCS / "evidence.md").read_text(encoding="utf-8")
    *files, after = [*blocks(page, "toml"), *blocks(page, "python")]
    follow(page, files, tmp_path)
    assert after in (tmp_path / "scorer.py").read_text() + "\n"


@pytest.mark.exhaustive
def test_fixes_are_verified_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path.parent))
    page = (DOCS / "verify.md").read_text(encoding="utf-8")
    follow(page, blocks(page, "python"), tmp_path)
    changed = (tmp_path / "scores.py").read_text()
    assert "@torch.jit.script\ndef phase" in changed
    assert "\n\ndef pairs(a, b):\n    return torch.outer(a, b)\n" in changed


@pytest.mark.exhaustive
def test_archives_are_inspected_and_converted_as_the_page_says(tmp_path: Path) -> None:
    page = (DOCS / "convert.md").read_text(encoding="utf-8")
    follow(page, blocks(page, "python"), tmp_path)


@pytest.mark.exhaustive
@pytest.mark.xdist_group("the built wheel")
@pytest.mark.skipif(shutil.which("bash") is None, reason="the page is for a POSIX shell")
def test_a_newcomer_migrates_writes_a_rule_adds_the_hook_and_sets_up_ci(
    hooks: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    source, environment = hooks
    page = (DOCS / "start.md").read_text(encoding="utf-8")
    page = page.replace("<where you keep torchlift>", str(source)).replace(
        "<commit or tag>", git(source, "rev-parse", "HEAD")
    )
    clone = tmp_path / "torchlift"
    shutil.copytree(
        DEMO, clone / "fixtures/legacy_project", ignore=shutil.ignore_patterns("__pycache__", "*.pt", "*.pt2")
    )
    walk(page, clone, {**environment, **NAMES})
    assert (tmp_path / "shapes/torchlift.sarif").is_file() and (tmp_path / "shapes/torchlift.html").is_file()


def shown_commands(page: Path) -> list[str]:
    """The commands of a page, without remarks."""
    text = page.read_text(encoding="utf-8")
    lines = [line for block in blocks(text, "sh") for line in block.splitlines()]
    lines += [command for command, _ in commands(text)]
    return [line.partition("  # ")[0].partition("   #")[0].strip() for line in lines if line.strip()]


PAGES = [
    path for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))) if shown_commands(path)
]


def test_every_command_of_a_page_is_run_by_a_test_that_names_the_page() -> None:
    for page, test in ELSEWHERE.items():
        assert page.rpartition("/")[2] in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "page", [path for path in PAGES if path.relative_to(ROOT).as_posix() not in ELSEWHERE], ids=lambda path: path.name
)
def test_the_commands_of_a_page_work_on_the_demo(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "src/demo"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("__pycache__", "*.pt", "*.pt2"))
    shutil.copytree(folder, folder / "notebooks")
    git(folder, "update-ref", "refs/remotes/origin/main", commit(folder))
    run = [command for command in shown_commands(page) if not command.startswith(tuple(NOT_RUN))]
    followed = "".join(f"$ {command}\n$ git add -A; git commit -qm {number}\n" for number, command in enumerate(run))
    walk(f"```console\n{followed}```", folder, {**os.environ, **NAMES, "HOME": str(tmp_path)})
