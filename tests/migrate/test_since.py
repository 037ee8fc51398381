"""Pull requests: only findings on lines that changed since a revision."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import told
from repositories import commit, git

OLD = "import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A branch `work` that left `main` where a.py, moved.py and req.txt stood."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_bytes(OLD.encode())
    (tmp_path / "sub/moved.py").write_text(OLD)
    (tmp_path / "requirements.txt").write_text("numpy\n--extra-index-url https://download.pytorch.org/whl/cu116\n")
    commit(tmp_path, "start", "-b", "main")
    git(tmp_path, "checkout", "-qb", "work")
    return tmp_path


def places(folder: Path, *arguments: str) -> list[str]:
    done = told(folder, "migrate", "--check", ".", "--output-format", "concise", *arguments)
    assert done.returncode == (1 if done.stdout else 0), done.stderr
    return [line.split(" ")[0] for line in done.stdout.splitlines()]


def test_nothing_changed_is_nothing_to_say_and_passes(project: Path) -> None:
    done = told(project, "migrate", "--check", ".", "--since", "main")
    assert done.returncode == 0 and done.stdout == ""
    assert "3 findings are on lines that have not changed since main, and not listed." in done.stderr
    assert "Nothing new to migrate" in done.stderr


def test_lines_that_moved_are_old_and_lines_that_came_are_new(project: Path) -> None:
    (project / "a.py").write_text('"""Moved down."""\n\x0c\n' + OLD + "\n\ndef g(a, b):\n    return torch.ger(b, a)\n")
    (project / "new.py").write_text(OLD)
    assert places(project, "--since", "main") == ["a.py:11:12:", "new.py:5:12:"]
    assert places(project, "--changed") == ["a.py:11:12:", "new.py:5:12:"]
    commit(project, "more")
    assert places(project, "--changed") == []
    assert places(project, "--since", "main") == ["a.py:11:12:", "new.py:5:12:"]
    assert places(project, "--since", "HEAD") == []


def test_what_the_other_branch_did_in_the_meantime_is_nothing_that_this_one_changed(project: Path) -> None:
    git(project, "checkout", "-q", "main")
    (project / "a.py").write_text(OLD.replace("ger", "outer"))
    commit(project, "mended")
    git(project, "checkout", "-q", "work")
    assert places(project, "--since", "main") == []


def test_requirements_and_folders_below_the_top_are_compared_too(project: Path) -> None:
    (project / "requirements.txt").write_text(
        "numpy\nscipy\n--extra-index-url https://download.pytorch.org/whl/cu115\n"
    )
    (project / "sub/moved.py").write_text(OLD.replace("return", "return  "))
    assert places(project, "--since", "main") == ["requirements.txt:3:19:", "sub/moved.py:5:14:"]
    assert places(project / "sub", "--since", "main") == ["moved.py:5:14:"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--since", "nowhere"], "git does not know what --since nowhere means"),
        (["--since", "--help"], "git does not know what --since --help means"),
        (["--since", "main", "--write-baseline"], "--since goes with --check"),
    ],
)
def test_a_revision_that_cannot_be_compared_with_is_a_sentence(project: Path, arguments: list[str], said: str) -> None:
    done = told(project, "migrate", "--check", ".", *arguments)
    assert done.returncode == 2 and said in done.stderr


def test_outside_of_git_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(OLD)
    done = told(tmp_path, "migrate", "--check", ".", "--since", "main")
    assert done.returncode == 2 and "there is no git repository around" in done.stderr
    assert told(tmp_path, "migrate", ".", "--since", "main").returncode == 2
