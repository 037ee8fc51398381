"""Which files of a repository are listed: what git tracks, ignores, and nests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repositories import git
from work_trees import found, repository, tree

from torchlift.migrate.workspace import git as git_module
from torchlift.migrate.workspace.discover import discover

pytestmark = pytest.mark.usefixtures("no_user_configuration")
posix = pytest.mark.skipif(os.name == "nt", reason="not on this system")


def test_tracked_files_stay_in_though_they_match_gitignore(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"a.py": "", "out/b.py": ""})
    tree(project, {".gitignore": "a.py\nout/\nu.py\n", "u.py": "", "v.py": "", "out/c.py": ""})
    assert found(project) == ["a.py", "out/b.py", "v.py"]


def test_deleted_files_are_not_listed(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", ["a.py", "b.py", "d/c.py"])
    (project / "b.py").unlink()
    shutil.rmtree(project / "d")
    (project / "d").write_text("now a file")
    assert found(project) == ["a.py"]
    assert discover([project], project).failures == ()


def test_conflicting_files_are_listed_once(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"a.py": "1\n"})
    git(project, "checkout", "-qb", "other")
    (project / "a.py").write_text("2\n")
    git(project, "commit", "-qam", "2")
    git(project, "checkout", "-q", "-")
    (project / "a.py").write_text("3\n")
    git(project, "commit", "-qam", "3")
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "merge", "other")
    assert found(project) == ["a.py"]


def test_nested_repositories_are_left_out_and_told(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", ["i.py"])
    project = repository(tmp_path / "p", ["a.py"])
    git(project, "submodule", "add", "-q", str(inner), "deps/sub")
    repository(project / "clone", ["n.py"])
    repository(project / "build" / "clone", ["n.py"])
    result = discover([project], project)
    assert result.files == ("a.py",)
    assert result.nested == ("clone", "deps/sub")
    assert discover([project], project, respect_gitignore=False).nested == ("clone", "deps/sub")
    named = discover([project, project / "clone", project / "deps" / "sub" / "i.py"], project)
    assert named.files == ("a.py", "clone/n.py", "deps/sub/i.py")
    assert named.nested == ("deps/sub",)


def test_a_submodule_that_was_never_checked_out_is_nothing_to_tell(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", ["i.py"])
    project = repository(tmp_path / "p", ["a.py"])
    git(project, "submodule", "add", "-q", str(inner), "sub")
    git(project, "commit", "-qm", "sub")
    git(tmp_path, "clone", "-q", str(project), "copy")
    result = discover([tmp_path / "copy"], tmp_path / "copy")
    assert result.files == ("a.py",)
    assert result.nested == ()


def test_a_plain_folder_of_clones_lists_them_all(tmp_path: Path) -> None:
    repository(tmp_path / "one", {"a.py": "", ".gitignore": "no.py\n", "no.py": ""})
    second = repository(tmp_path / "two", ["b.py", "tracked.py"])
    tree(second, {".gitignore": "tracked.py\n"})
    tree(tmp_path, ["c.py"])
    result = discover([tmp_path], tmp_path)
    assert result.files == ("c.py", "one/a.py", "two/b.py", "two/tracked.py")
    assert result.nested == ()
    assert "one/no.py" in discover([tmp_path], tmp_path, respect_gitignore=False).files


def test_a_hooks_environment_does_not_change_which_repository_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = repository(tmp_path / "p", ["a.py"])
    other = repository(tmp_path / "other", ["b.py"])
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    monkeypatch.setenv("GIT_ICASE_PATHSPECS", "1")
    assert found(project) == ["a.py"]


@posix
def test_a_file_watcher_that_the_repository_names_is_not_run(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", ["a.py"])
    script = project / "watch.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)
    git(project, "config", "core.fsmonitor", str(script))
    assert found(project) == ["a.py"]
    assert not (tmp_path / "ran").exists()


def test_a_broken_repository_is_walked(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {".gitignore": "i.py\n", "a.py": "", "i.py": "", "d/b.py": ""})
    repository(project / "clone", ["n.py"])
    (project / ".git" / "index").write_bytes(b"nonsense")
    result = discover([project], project)
    assert result.files == ("a.py", "d/b.py")
    assert result.nested == ("clone",)
    assert discover([project / "d"], project).files == ("d/b.py",)


def test_many_named_folders_are_listed_with_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"a_rather_long_folder_name_{number:04}" for number in range(900)]
    project = repository(tmp_path / "p", [f"{name}/m.py" for name in names] + ["other/m.py"], commit=False)
    calls = []
    real = git_module.git
    monkeypatch.setattr("torchlift.migrate.workspace.listing.git", lambda *a, **k: (calls.append(a), real(*a, **k))[1])
    assert found(project, *names) == [f"{name}/m.py" for name in names]
    assert len(calls) == 2


def test_files_outside_the_top_are_never_taken_for_files_inside(tmp_path: Path) -> None:
    names = [f"a_rather_long_folder_name_{number:04}" for number in range(900)]
    files = [f"pkg/{name}/m.py" for name in names] + [f"{names[0]}/decoy.py"]
    top = repository(tmp_path / "p", files, commit=False) / "pkg"
    assert found(top, *names) == [f"{name}/m.py" for name in names]


def test_listing_a_repository_imports_no_pattern_library(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"a.py": "", ".gitignore": "x\n"})
    code = (
        "import sys; from pathlib import Path; from torchlift.migrate.workspace.discover import discover; from torchlift.migrate.workspace.root import find_root\n"
        f"p = Path({str(project)!r}); assert discover([p], find_root([p])).files == ('a.py',)\n"
        "assert not {'pathspec', 'libcst', 'packaging', 'click'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
