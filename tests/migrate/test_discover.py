from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from repositories import git
from work_trees import Files, found, repository, tree

from torchlift.migrate.workspace.discover import Discovery, discover
from torchlift.migrate.workspace.root import find_root

Make = Callable[[Files], Path]

pytestmark = pytest.mark.usefixtures("no_user_configuration")
needs_links = pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
posix = pytest.mark.skipif(os.name == "nt", reason="not on this system")


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


def test_a_file_goes_by_the_name_of_its_folder_where_case_is_ignored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tree(tmp_path, ["Net.py", "other.py"])
    for spelling in ("NET.PY", "net.py"):
        os.link(tmp_path / "Net.py", tmp_path / spelling)
    named = [tmp_path / name for name in ("net.py", "Net.py", "other.py")]
    assert discover(named, tmp_path).files == ("Net.py", "net.py", "other.py")
    names = os.listdir

    def as_a_folder_lists_that_ignores_case(folder: str) -> list[str]:
        return [name for name in names(folder) if name.lower() != "net.py" or name == "Net.py"]

    monkeypatch.setattr(os, "listdir", as_a_folder_lists_that_ignores_case)
    assert discover(named, tmp_path).files == ("Net.py", "other.py")
