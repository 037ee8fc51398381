from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from repositories import git

from torchlift.migrate.workspace import git as git_module
from torchlift.migrate.workspace.discover import Discovery, discover
from torchlift.migrate.workspace.root import find_root

Files = Mapping[str, str] | list[str]
Make = Callable[[Files], Path]

needs_links = pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
posix = pytest.mark.skipif(os.name == "nt", reason="not on this system")


@pytest.fixture(autouse=True)
def no_user_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


def tree(folder: Path, files: Files) -> Path:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[name] if isinstance(files, Mapping) else "x = 1\n")
    return folder


def repository(folder: Path, files: Files, *, commit: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    tree(folder, files)
    if commit:
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "all", "--allow-empty")
    return folder


def found(folder: Path, *names: str) -> list[str]:
    return list(discover([folder / name for name in names] or [folder], folder).files)


@pytest.fixture(params=["git", "walk"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Makes a project that is listed by git, or an equal one that is walked."""

    def in_git(files: Files) -> Path:
        return repository(tmp_path / "project", files, commit=False)

    def walked(files: Files) -> Path:
        return tree(tmp_path / "project", files)

    return in_git if request.param == "git" else walked


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder in which permissions hold, even where the tests run as the superuser."""
    folder = Path(tempfile.mkdtemp()).resolve()
    if os.geteuid() != 0:
        yield folder
    else:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(0)
    subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=False)
    shutil.rmtree(folder)


# The root


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


# Folders


def test_python_files_stubs_and_notebooks_are_found_sorted(make: Make) -> None:
    project = make(["b.py", "a/z.pyi", "a/b.txt", "a/c.pyc", "Makefile", "é ü.py", "x.ipynb", "x.json"])
    assert found(project) == ["a/z.pyi", "b.py", "x.ipynb", "é ü.py"]


def test_an_empty_folder_has_no_files(make: Make) -> None:
    project = make([])
    project.mkdir(exist_ok=True)
    assert discover([project], project) == Discovery(project, ())


def test_default_excludes_are_left_out(make: Make) -> None:
    names = [".venv/a.py", "venv/a.py", "node_modules/a.py", "src/build/a.py", "dist/a.py", "p.egg-info/a.py"]
    names += ["__pycache__/a.py", ".tox/a.py", ".nox/a.py", ".eggs/a.py", "x/site-packages/a.py", ".hg/a.py"]
    project = make([*names, "builder/a.py", "env/a.py", "a.py"])
    assert found(project) == ["a.py", "builder/a.py", "env/a.py"]


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/history"])
def test_an_environment_is_known_by_its_content(make: Make, mark: str) -> None:
    project = make(["a.py", f"my/{mark}", "my/lib/b.py", "my_env/c.py"])
    assert found(project) == ["a.py", "my_env/c.py"]
    assert found(project, "my") == ["my/lib/b.py"]


def test_the_project_itself_may_lie_in_an_environment(make: Make) -> None:
    project = make(["pyvenv.cfg", "a.py"])
    assert found(project) == ["a.py"]


def test_patterns_replace_or_extend_the_default_ones(make: Make) -> None:
    project = make(["build/a.py", "gen/b.py", "src/gen/c.py", "d_pb2.py", "e.py"])
    assert discover([project], project, exclude=["src/gen"]).files == ("build/a.py", "d_pb2.py", "e.py", "gen/b.py")
    assert discover([project], project, exclude=[]).files[0] == "build/a.py"
    assert discover([project], project, extend_exclude=["gen", "*_pb2.py"]).files == ("e.py",)


def test_patterns_with_a_slash_may_be_relative_to_a_folder_above(make: Make) -> None:
    project = make(["gen/b.py", "e.py"])
    given = [f"{project.name}/gen"]
    assert discover([project], project, extend_exclude=given, base=project.parent).files == ("e.py",)
    assert discover([project], project, extend_exclude=given).files == ("e.py", "gen/b.py")


def test_gitignore_files_on_the_way_count(make: Make) -> None:
    project = make(
        {
            ".gitignore": "*.gen.py\n/top.py\nout/\r\n!keep.gen.py\n# c.py\n",
            "a.gen.py": "",
            "keep.gen.py": "",
            "top.py": "",
            "c.py": "",
            "out/x.py": "",
            "sub/top.py": "",
            "sub/.gitignore": "local.py\n!b.gen.py\n",
            "sub/local.py": "",
            "sub/b.gen.py": "",
            "sub/deep/local.py": "",
            "local.py": "",
        }
    )
    assert found(project) == ["c.py", "keep.gen.py", "local.py", "sub/b.gen.py", "sub/top.py"]
    assert found(project, "sub") == ["sub/b.gen.py", "sub/top.py"]
    everything = discover([project], project, respect_gitignore=False)
    assert len(everything.files) == 10


def test_malformed_ignore_lines_are_passed_over(make: Make) -> None:
    project = make({".gitignore": "!\nx.py\n", "x.py": "", "y.py": ""})
    assert found(project) == ["y.py"]


def test_the_private_exclude_file_of_a_repository_counts_without_git_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = repository(tmp_path / "p", ["a.py", "b.py"], commit=False)
    (project / ".git" / "info" / "exclude").write_text("b.py\n")
    assert found(project) == ["a.py"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found(project) == ["a.py"]


def test_a_named_folder_is_listed_even_if_ignored_or_excluded(make: Make) -> None:
    project = make(
        {".gitignore": "out/\n", "out/a.py": "", "out/in/b.py": "", "build/c.py": "", "build/build/d.py": ""}
    )
    assert found(project) == []
    assert found(project, "out") == ["out/a.py", "out/in/b.py"]
    assert found(project, "out/in") == ["out/in/b.py"]
    assert found(project, "build") == ["build/c.py"]
    assert found(project, ".", "build") == ["build/c.py"]


def test_a_named_cache_folder_that_ignores_itself_is_listed(make: Make) -> None:
    project = make({".gitignore": ".cache/\n", ".cache/.gitignore": "*\n", ".cache/a.py": ""})
    assert found(project) == []
    assert found(project, ".cache") == [".cache/a.py"]


def test_overlapping_folders_list_a_file_once(make: Make) -> None:
    project = make(["a/b/c.py", "a/d.py"])
    assert found(project, "a", "a/b", ".", "a/d.py") == ["a/b/c.py", "a/d.py"]


def test_odd_names_are_nothing_special(make: Make) -> None:
    names = ["[ab].py", "a b.py", "-x.py", "x'y.py", "ü/é.py", "*.py", "160000.py", " lead.py"]
    names += [] if os.name == "nt" else ["new\nline.py", 'quo"te.py', "back\\slash.py", ":(top)x.py", "tab\there.py"]
    project = make(names)
    assert found(project) == sorted(names)
    sub = project / ":(glob)*[x]"
    if os.name != "nt":
        tree(sub, ["q.py"])
        assert found(project, ":(glob)*[x]") == [":(glob)*[x]/q.py"]


@posix
def test_names_that_are_not_unicode_can_be_opened(make: Make) -> None:
    project = make(["a.py"])
    try:
        Path(os.fsdecode(os.fsencode(project) + b"/\xff.py")).write_text("x = 1\n")
    except OSError:
        pytest.skip("this file system wants Unicode")
    odd = next(path for path in found(project) if path != "a.py")
    assert (project / odd).read_text() == "x = 1\n"


def test_a_top_inside_the_work_tree_is_allowed(make: Make) -> None:
    project = make(["ü/sub/a.py", "ü/b.py", "c.py"])
    assert discover([project / "ü"], project / "ü").files == ("b.py", "sub/a.py")
    assert discover([project / "ü" / "sub"], project / "ü").files == ("sub/a.py",)


@posix
def test_pipes_sockets_and_folders_called_like_modules_are_no_files(make: Make) -> None:
    project = make(["a.py", "d.py/b.py"])
    os.mkfifo(project / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(project)  # the address of a socket must be short
        try:
            server.bind("socket.py")
        finally:
            os.chdir(here)
        result = discover([project], project)
    assert result.files == ("a.py", "d.py/b.py")
    assert result.failures == ()


# Links


@needs_links
def test_a_link_to_a_file_of_the_project_is_that_file(make: Make) -> None:
    project = make(["a/real.py", "a/tool", ".venv/x.py"])
    (project / "link.py").symlink_to("a/real.py")
    (project / "again.py").symlink_to("link.py")
    (project / "tool.py").symlink_to("a/tool")
    (project / "excluded.py").symlink_to(".venv/x.py")
    assert found(project) == ["a/real.py", "a/tool"]
    assert found(project, "link.py", "a/real.py") == ["a/real.py"]


@needs_links
def test_links_out_of_the_project_to_nowhere_and_to_themselves_are_passed_over(make: Make) -> None:
    project = make(["a.py"])
    tree(project.parent / "elsewhere", ["x.py"])
    (project / "out.py").symlink_to("../elsewhere/x.py")
    (project / "folder").symlink_to("../elsewhere")
    (project / "gone.py").symlink_to("nothing")
    (project / "loop.py").symlink_to("loop.py")
    (project / "up").symlink_to(".")
    result = discover([project], project)
    assert result.files == ("a.py",)
    assert result.failures == ()


@needs_links
def test_a_named_link_to_a_folder_is_that_folder(make: Make) -> None:
    project = make(["real/a.py"])
    (project / "link").symlink_to("real")
    assert found(project, "link") == ["real/a.py"]
    assert found(project, "link/a.py") == ["real/a.py"]


@needs_links
def test_a_named_link_out_of_the_project_is_followed(make: Make) -> None:
    project = make(["a.py"])
    tree(project.parent / "elsewhere", ["x.py"])
    (project / "out.py").symlink_to("../elsewhere/x.py")
    result = discover([project / "out.py"], project)
    assert result.root == project.parent
    assert result.files == ("elsewhere/x.py",)


# Named files


def test_a_named_file_is_taken_whatever_it_is_called(make: Make) -> None:
    project = make({".gitignore": "i.py\n", "i.py": "", "script": "", "build/x.py": "", "n.me": ""})
    assert found(project, "i.py", "script", "build/x.py", "n.me") == ["build/x.py", "i.py", "n.me", "script"]


def test_a_named_text_file_is_taken_for_requirements(make: Make) -> None:
    project = make({"gpu.txt": "torch\n", "base.in": "torch\n"})
    listed = discover([project / "gpu.txt", project / "base.in"], project)
    assert (listed.files, listed.texts) == ((), ("base.in", "gpu.txt"))


def test_requirements_include_what_is_not_ignored_and_lies_in_the_folders_that_are_named(make: Make) -> None:
    project = make(
        {
            ".gitignore": "own.txt\n",
            "sub/requirements.txt": "-r own.txt\n-r more.txt\n-c ../base.txt\n",
            "sub/own.txt": "",
            "sub/more.txt": "",
            "sub/data.txt": "",
            "base.txt": "",
        }
    )
    assert discover([project], project).texts == ("base.txt", "sub/more.txt", "sub/requirements.txt")
    assert discover([project / "sub"], project).texts == ("sub/more.txt", "sub/requirements.txt")


def test_force_exclude_leaves_out_named_paths(make: Make) -> None:
    project = make(["build/x.py", "a.py", "build/in/y.py", "gen.py"])
    named = [project / name for name in ("build/x.py", "a.py", "build/in", "gen.py")]
    result = discover(named, project, force_exclude=True, extend_exclude=["gen.*"])
    assert result.files == ("a.py",)
    assert result.excluded_explicit == ("build/in", "build/x.py", "gen.py")
    assert discover([project], project, force_exclude=True).files == ("a.py", "gen.py")


def test_relative_paths_start_at_the_working_directory(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(["a/b.py", "c.py"])
    monkeypatch.chdir(project / "a")
    root = find_root([Path("../c.py"), Path("b.py")])
    assert discover([Path("b.py"), Path("../c.py")], project).files == ("a/b.py", "c.py")
    assert discover([Path()], project).files == ("a/b.py",)
    assert root == project


def test_a_path_outside_moves_the_root_up(tmp_path: Path) -> None:
    first = repository(tmp_path / "first", ["a.py"])
    second = repository(tmp_path / "second", ["b.py"])
    result = discover([first, second / "b.py"], first)
    assert result.root == tmp_path
    assert result.files == ("first/a.py", "second/b.py")


def test_a_missing_path_is_a_failure_and_the_others_are_listed(make: Make) -> None:
    project = make(["a.py"])
    result = discover([project / "no.py", project / "a.py", project / "a.py" / "b.py"], project)
    assert result.files == ("a.py",)
    assert [(failure.path, failure.stage) for failure in result.failures] == [
        ("a.py/b.py", "discover"),
        ("no.py", "discover"),
    ]
    assert result.failures[1].reason == "There is no such file or folder."


@needs_links
def test_named_links_to_nowhere_and_to_themselves_are_failures(make: Make) -> None:
    project = make([])
    project.mkdir(exist_ok=True)
    (project / "gone.py").symlink_to("nothing")
    (project / "loop.py").symlink_to("loop.py")
    result = discover([project / "gone.py", project / "loop.py"], project)
    assert [failure.reason for failure in result.failures] == [
        "It is a symbolic link to a file that does not exist.",
        "It is a symbolic link that leads back to itself.",
    ]


@posix
def test_a_named_device_is_a_failure(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    [failure] = discover([tmp_path / "pipe.py"], tmp_path).failures
    assert failure.path == "pipe.py"
    assert failure.reason == "It is neither a file nor a folder, so there is nothing to analyse."


@posix
@pytest.mark.parametrize("listed_by", ["git", "walk"])
def test_a_folder_that_may_not_be_read_is_a_failure(
    unprivileged: Path, listed_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(unprivileged))
    project = tree(unprivileged / "p", ["a.py", "locked/b.py", "locked/in/c.py"])
    if listed_by == "git":
        git(project, "init", "-q")
        git(project, "config", "--add", "safe.directory", "*")
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", "*")
    (project / "locked").chmod(0)
    result = discover([project], project)
    assert result.files == ("a.py",)
    [failure] = result.failures
    assert failure.path == "locked"
    assert "Permission denied" in failure.reason
    [failure] = discover([project / "locked" / "b.py"], project).failures
    assert "Permission denied" in failure.reason


# Repositories


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


def test_thousands_of_files_take_little_time(tmp_path: Path) -> None:
    names = [f"package_{number // 30}/sub_{number % 3}/module_{number}.py" for number in range(3000)]
    project = repository(tmp_path / "p", names, commit=False)
    git(project, "add", ".")
    times = []
    for _ in range(3):
        begun = time.process_time()
        assert len(found(project)) == 3000
        times.append(time.process_time() - begun)
    # Generous for slow machines; about 0.02 s is usual.
    assert min(times) < 0.2


def test_listing_a_repository_imports_no_pattern_library(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"a.py": "", ".gitignore": "x\n"})
    code = (
        "import sys; from pathlib import Path; from torchlift.migrate.workspace.discover import discover; from torchlift.migrate.workspace.root import find_root\n"
        f"p = Path({str(project)!r}); assert discover([p], find_root([p])).files == ('a.py',)\n"
        "assert not {'pathspec', 'libcst', 'packaging', 'click'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
