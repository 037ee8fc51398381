"""Where a project begins: the root of the paths that are named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repositories import git
from work_trees import repository, tree

from torchlift.migrate.workspace.root import find_root

pytestmark = pytest.mark.usefixtures("no_user_configuration")
needs_links = pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")


def test_the_root_is_the_work_tree_around_the_first_path(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"pkg/sub/a.py": "", "pkg/pyproject.toml": ""})
    for name in ("", "pkg", "pkg/sub", "pkg/sub/a.py"):
        assert find_root([project / name]) == project


def test_a_linked_work_tree_and_a_submodule_are_roots(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", ["i.py"])
    outer = repository(tmp_path / "outer", ["o.py"])
    git(outer, "worktree", "add", "-q", "../linked")
    git(outer, "submodule", "add", "-q", str(inner), "deps/inner")
    assert find_root([tmp_path / "linked" / "o.py"]) == tmp_path / "linked"
    assert find_root([outer / "deps" / "inner" / "i.py"]) == outer / "deps" / "inner"


def test_an_empty_dot_git_folder_is_no_repository(tmp_path: Path) -> None:
    project = tree(tmp_path / "p", ["a/b.py", "pyproject.toml"])
    (project / "a" / ".git").mkdir()
    assert find_root([project / "a"]) == project


@pytest.mark.parametrize("mark", ["pyproject.toml", "setup.py", "setup.cfg"])
def test_without_git_the_root_is_the_nearest_project_file(tmp_path: Path, mark: str) -> None:
    project = tree(tmp_path, ["pyproject.toml", f"in/{mark}", "in/pkg/a.py"])
    assert find_root([project / "in" / "pkg" / "a.py"]) == project / "in"


def test_without_any_mark_the_root_is_the_folder_or_the_folder_of_the_file(tmp_path: Path) -> None:
    tree(tmp_path, ["a/b/c.py"])
    assert find_root([tmp_path / "a"]) == tmp_path / "a"
    assert find_root([tmp_path / "a" / "b" / "c.py"]) == tmp_path / "a" / "b"


def test_a_missing_path_has_the_root_of_the_nearest_folder_that_exists(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", ["a.py"])
    assert find_root([project / "no" / "such.py"]) == project


def test_paths_of_two_projects_have_their_common_folder(tmp_path: Path) -> None:
    first = repository(tmp_path / "first", ["a.py"])
    second = tree(tmp_path / "second", ["b.py"])
    assert find_root([first / "a.py", second / "b.py"]) == tmp_path


def test_paths_of_a_submodule_and_its_repository_have_the_repository(tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer", ["pkg/o.py"])
    inner = repository(outer / "pkg" / "inner", ["i.py"])
    assert find_root([inner / "i.py", outer / "pkg" / "o.py"]) == outer


def test_no_path_means_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_root([]) == tmp_path
    assert find_root([Path()]) == tmp_path


@needs_links
def test_the_root_is_real_however_it_is_reached(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", ["sub/a.py"])
    (tmp_path / "link").symlink_to(project / "sub")
    assert find_root([tmp_path / "link"]) == project
    assert find_root([tmp_path / "link" / "a.py"]) == project
