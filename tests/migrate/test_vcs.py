from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from repositories import git

from torchlift.migrate.workspace import git as git_module
from torchlift.migrate.workspace.vcs import Reason, unsafe_to_write


@pytest.fixture(autouse=True)
def no_user_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


def put(folder: Path, names: Iterable[str], text: str = "x = 1\n") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def repository(folder: Path, names: Iterable[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    put(folder, names)
    git(folder, "add", "-f", ".")
    git(folder, "commit", "-qm", "all", "--allow-empty")
    return folder


def test_a_committed_file_is_safe(tmp_path: Path) -> None:
    project = repository(tmp_path, ["a.py", "d/b.py"])
    assert unsafe_to_write(project, ["a.py", "d/b.py"]) == {}
    assert unsafe_to_write(project / "d", ["b.py"]) == {}


def test_nothing_asked_is_nothing_answered(tmp_path: Path) -> None:
    assert unsafe_to_write(tmp_path, []) == {}


def test_every_kind_of_uncommitted_change_is_dirty(tmp_path: Path) -> None:
    project = repository(tmp_path, ["modified.py", "staged.py", "both.py", "clean.py", "mode.py"])
    put(project, ["modified.py", "staged.py", "both.py", "added.py", "intended.py"], "x = 2\n")
    git(project, "add", "staged.py", "both.py", "added.py")
    git(project, "add", "-N", "intended.py")
    put(project, ["both.py"], "x = 3\n")
    git(project, "mv", "clean.py", "renamed.py")
    names = ["modified.py", "staged.py", "both.py", "added.py", "intended.py", "renamed.py"]
    assert unsafe_to_write(project, names) == dict.fromkeys(names, Reason.DIRTY)


def test_a_change_that_was_undone_is_safe(tmp_path: Path) -> None:
    project = repository(tmp_path, ["a.py"])
    put(project, ["a.py"], "x = 2\n")
    put(project, ["a.py"])
    os.utime(project / "a.py", (1, 1))
    assert unsafe_to_write(project, ["a.py"]) == {}


def test_a_conflict_is_dirty(tmp_path: Path) -> None:
    project = repository(tmp_path, ["a.py"])
    git(project, "checkout", "-qb", "other")
    put(project, ["a.py"], "x = 2\n")
    git(project, "commit", "-qam", "2")
    git(project, "checkout", "-q", "-")
    put(project, ["a.py"], "x = 3\n")
    git(project, "commit", "-qam", "3")
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "merge", "other")
    assert unsafe_to_write(project, ["a.py"]) == {"a.py": Reason.DIRTY}


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_git_was_told_not_to_look_at_is_not_vouched_for(tmp_path: Path, flag: str) -> None:
    project = repository(tmp_path, ["a.py"])
    git(project, "update-index", flag, "a.py")
    put(project, ["a.py"], "precious = 1\n")
    assert unsafe_to_write(project, ["a.py"]) == {"a.py": Reason.DIRTY}


def test_untracked_ignored_and_removed_files_are_not_under_version_control(tmp_path: Path) -> None:
    project = repository(tmp_path, [".gitignore", "tracked/a.py", "removed.py"])
    put(project, [".gitignore"], "out/\ni.py\n")
    git(project, "commit", "-qam", "ignore")
    put(project, ["new.py", "fresh/n.py", "i.py", "out/o.py", "tracked/u.py"])
    git(project, "rm", "-q", "--cached", "removed.py")
    names = ["new.py", "fresh/n.py", "i.py", "out/o.py", "tracked/u.py", "removed.py", ".git/config"]
    assert unsafe_to_write(project, ["tracked/a.py", *names]) == dict.fromkeys(names, Reason.UNTRACKED)


def test_a_tracked_file_that_is_ignored_is_safe(tmp_path: Path) -> None:
    project = repository(tmp_path, ["out/a.py"])
    put(project, [".gitignore"], "out/\n")
    git(project, "add", ".gitignore")
    git(project, "commit", "-qm", "ignore")
    put(project, ["out/b.py"])
    assert unsafe_to_write(project, ["out/a.py", "out/b.py"]) == {"out/b.py": Reason.UNTRACKED}


def test_a_repository_without_commits_vouches_for_nothing(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    put(tmp_path, ["added.py", "new.py"])
    git(tmp_path, "add", "added.py")
    reasons = unsafe_to_write(tmp_path, ["added.py", "new.py"])
    assert reasons == {"added.py": Reason.DIRTY, "new.py": Reason.UNTRACKED}


def test_outside_a_repository_nothing_is_under_version_control(tmp_path: Path) -> None:
    put(tmp_path, ["a.py"])
    assert unsafe_to_write(tmp_path, ["a.py"]) == {"a.py": Reason.UNTRACKED}


@pytest.mark.parametrize("mark", [".hg", ".jj", ".svn"])
def test_another_system_is_named_only_where_there_is_no_git(tmp_path: Path, mark: str) -> None:
    put(tmp_path, ["other/sub/a.py"])
    (tmp_path / "other" / mark).mkdir()
    assert unsafe_to_write(tmp_path, ["other/sub/a.py"]) == {"other/sub/a.py": Reason.UNKNOWN_VCS}
    project = repository(tmp_path / "project", ["a.py"])
    (project / mark).mkdir()
    assert unsafe_to_write(project, ["a.py"]) == {}


def test_nested_repositories_submodules_and_work_trees_answer_for_their_own_files(tmp_path: Path) -> None:
    library = repository(tmp_path / "library", ["l.py", "dirty.py"])
    outer = repository(tmp_path / "outer", ["o.py"])
    git(outer, "submodule", "add", "-q", str(library), "deps/library")
    git(outer, "commit", "-qm", "library")
    nested = repository(outer / "clone", ["n.py", "dirty.py"])
    git(outer, "worktree", "add", "-q", str(tmp_path / "linked"))
    for folder in (outer / "deps" / "library", nested):
        put(folder, ["dirty.py"], "x = 2\n")
    put(tmp_path / "linked", ["o.py"], "x = 2\n")
    put(nested, ["new.py"])
    files = ["outer/o.py", "outer/deps/library/l.py", "outer/deps/library/dirty.py", "outer/clone/n.py"]
    files += ["outer/clone/dirty.py", "outer/clone/new.py", "linked/o.py"]
    assert unsafe_to_write(tmp_path, files) == {
        "outer/deps/library/dirty.py": Reason.DIRTY,
        "outer/clone/dirty.py": Reason.DIRTY,
        "outer/clone/new.py": Reason.UNTRACKED,
        "linked/o.py": Reason.DIRTY,
    }


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
def test_a_link_is_as_safe_as_the_file_it_leads_to(tmp_path: Path) -> None:
    put(tmp_path, ["elsewhere/e.py"])
    project = repository(tmp_path / "p", ["real.py", "dirty.py"])
    (project / "link.py").symlink_to("real.py")
    (project / "to_dirty.py").symlink_to("dirty.py")
    (project / "out.py").symlink_to("../elsewhere/e.py")
    git(project, "add", ".")
    git(project, "commit", "-qm", "links")
    put(project, ["dirty.py"], "x = 2\n")
    assert unsafe_to_write(project, ["link.py", "to_dirty.py", "dirty.py", "out.py"]) == {
        "to_dirty.py": Reason.DIRTY,
        "dirty.py": Reason.DIRTY,
        "out.py": Reason.UNTRACKED,
    }


@pytest.mark.skipif(os.name == "nt", reason="such names are not allowed")
def test_odd_names_mean_themselves(tmp_path: Path) -> None:
    names = [
        "[ab].py",
        "*.py",
        ":(top)x.py",
        ":!y.py",
        "new\nline.py",
        'q"uote.py',
        " lead.py",
        "-x.py",
        "ü.py",
        "t\t.py",
    ]
    project = repository(tmp_path, [*names, "a.py"])
    assert unsafe_to_write(project, names) == {}
    put(project, ["a.py", "ü.py"], "x = 2\n")
    assert unsafe_to_write(project, names) == {"ü.py": Reason.DIRTY}
    put(project, names, "x = 2\n")
    assert unsafe_to_write(project, names) == dict.fromkeys(names, Reason.DIRTY)
    odd = os.fsdecode(b"\xff.py")
    try:
        put(project, [odd])
    except OSError:
        return
    assert unsafe_to_write(project, [odd]) == {odd: Reason.UNTRACKED}


def test_line_ending_conversion_is_no_change(tmp_path: Path) -> None:
    project = repository(tmp_path, ["b.py"])
    git(project, "config", "core.autocrlf", "true")
    put(project, ["a.py"])
    git(project, "add", "a.py")
    git(project, "commit", "-qm", "a")
    (project / "a.py").unlink()
    git(project, "checkout", "a.py")
    assert (project / "a.py").read_bytes() == b"x = 1\r\n"
    assert unsafe_to_write(project, ["a.py"]) == {}


def test_a_thousand_files_are_asked_in_few_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"a_rather_long_folder_name_{number % 7}/and_a_module_{number:04}.py" for number in range(1000)]
    project = repository(tmp_path, names)
    put(project, names[::100], "x = 2\n")
    calls = []
    real = git_module.git
    monkeypatch.setattr("torchlift.migrate.workspace.vcs.git", lambda *a, **k: (calls.append(a), real(*a, **k))[1])
    assert unsafe_to_write(project, names) == dict.fromkeys(names[::100], Reason.DIRTY)
    assert len(calls) == 10
    assert all(sum(map(len, arguments)) < 30_000 for arguments, _ in calls)


def test_a_repository_that_git_cannot_read_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = repository(tmp_path / "p", ["a.py"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert unsafe_to_write(project, ["a.py"]) == {"a.py": Reason.UNCHECKED}
    monkeypatch.undo()
    (project / ".git" / "index").write_bytes(b"nonsense")
    assert unsafe_to_write(project, ["a.py"]) == {"a.py": Reason.UNCHECKED}


def test_asking_changes_nothing_in_the_repository(tmp_path: Path) -> None:
    project = repository(tmp_path, ["a.py"])
    os.utime(project / "a.py", (1, 1))
    before = (project / ".git" / "index").read_bytes()
    assert unsafe_to_write(project, ["a.py"]) == {}
    assert (project / ".git" / "index").read_bytes() == before


def test_a_hooks_environment_does_not_change_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = repository(tmp_path / "p", ["a.py"])
    other = repository(tmp_path / "other", ["b.py"])
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert unsafe_to_write(project, ["a.py"]) == {}


LOCAL = subprocess.run(
    ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
).stdout.split()


@pytest.mark.parametrize("name", [name for name in LOCAL if not name.startswith("GIT_CONFIG")])
def test_no_variable_of_another_repository_changes_the_answer_for_a_submodule_or_a_linked_work_tree(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, outer = repository(tmp_path / "library", ["b.py"]), repository(tmp_path / "outer", ["a.py"])
    git(outer, "submodule", "add", "-q", str(library), "deps/library")
    git(outer, "commit", "-qm", "library")
    git(outer, "worktree", "add", "-q", str(tmp_path / "linked"))
    other = repository(tmp_path / "other", ["a.py", "b.py"])
    put(outer / "deps/library", ["b.py"], "x = 2\n")
    put(tmp_path / "linked", ["a.py"], "x = 2\n")
    expected = {"deps/library/b.py": Reason.DIRTY}
    assert (outer / "deps/library/.git").is_file() and (tmp_path / "linked/.git").is_file()
    for value in (str(other / ".git"), str(other), "nonsense"):
        monkeypatch.setenv(name, value)
        assert unsafe_to_write(outer, ["a.py", "deps/library/b.py"]) == expected
        assert unsafe_to_write(tmp_path / "linked", ["a.py"]) == {"a.py": Reason.DIRTY}


MARK = "touch marker; cat"


@pytest.mark.parametrize(
    ("attribute", "configuration"),
    [
        ("*.py filter=odd", {"filter.odd.clean": MARK, "filter.odd.smudge": "cat"}),
        ("*.py filter=odd", {"filter.odd.process": MARK}),
        ("*.py filter=odd", {"filter.odd.clean": MARK, "filter.odd.required": "true"}),
        ("*.py diff=odd", {"diff.odd.command": MARK, "diff.odd.textconv": MARK}),
        ("*.py text", {"core.fsmonitor": MARK}),
        ("*.py text", {"core.fsmonitor": MARK, "core.fsmonitorHookVersion": "2", "core.untrackedCache": "true"}),
    ],
    ids=["clean", "process", "required", "diff", "watcher", "watcher of version 2"],
)
def test_no_program_that_a_repository_names_is_run(
    tmp_path: Path, attribute: str, configuration: dict[str, str]
) -> None:
    project = repository(tmp_path, ["a.py", "same.py"])
    (project / ".git" / "info" / "attributes").write_text(f"{attribute}\n")
    for key, value in configuration.items():
        git(project, "config", key, value)
    put(project, ["a.py"], "x = 2\n")
    os.utime(project / "same.py", (1, 1))
    reason = Reason.FILTERED if "filter" in attribute else Reason.DIRTY
    assert unsafe_to_write(project, ["a.py", "same.py"]) == {"a.py": reason}
    assert not (project / "marker").exists()


@pytest.mark.parametrize("url", ["{folder}", "file://{folder}", "ext::{mark}", "ssh://host/{mark}"])
def test_missing_objects_are_fetched_from_nowhere(tmp_path: Path, url: str) -> None:
    project = repository(tmp_path / "p", ["d/a.py"])
    tree = subprocess.run(["git", "rev-parse", "HEAD:d"], cwd=project, check=True, capture_output=True, text=True)
    name = tree.stdout.strip()
    (project / ".git" / "objects" / name[:2] / name[2:]).unlink()
    mark = f"touch {tmp_path / 'marker'};"
    for key, value in {
        "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1",
        "core.sshCommand": mark,
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "protocol.file.allow": "always",
        "remote.origin.promisor": "true",
        "remote.origin.url": url.format(folder=tmp_path, mark=mark),
        "remote.origin.uploadpack": mark,
    }.items():
        git(project, "config", key, value)
    assert unsafe_to_write(project, ["d/a.py"]) == {"d/a.py": Reason.UNCHECKED}
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize(
    ("attribute", "checked_out"),
    [
        ("text eol=crlf", b"x = 1 # $Id$\r\n"),
        ("text=auto eol=crlf", b"x = 1 # $Id$\r\n"),
        ("crlf", b"x = 1 # $Id$\r\n"),
        ("ident", b"x = 1 # $Id: 0123456789abcdef0123456789abcdef01234567 $\n"),
        ("text working-tree-encoding=UTF-16", "x = 1 # $Id$\n".encode("utf-16")),
        ("filter=nobody", b"x = 1 # $Id$\n"),
    ],
)
def test_what_git_converts_itself_is_no_change(tmp_path: Path, attribute: str, checked_out: bytes) -> None:
    project = repository(tmp_path, ["b.py"])
    put(project, ["a.py"], "x = 1 # $Id$\n")
    git(project, "add", "a.py")
    git(project, "commit", "-qm", "a")
    (project / ".gitattributes").write_text(f"a.py {attribute}\n")
    (project / "a.py").write_bytes(checked_out)
    assert unsafe_to_write(project, ["a.py"]) == {}
    (project / "a.py").write_bytes(checked_out + "y = 2\n".encode("utf-16-le" if "UTF-16" in attribute else "utf-8"))
    assert unsafe_to_write(project, ["a.py"]) == {"a.py": Reason.FILTERED if "filter" in attribute else Reason.DIRTY}


def test_line_endings_that_nobody_converts_are_a_change(tmp_path: Path) -> None:
    project = repository(tmp_path, ["a.py"])
    (project / "a.py").write_bytes(b"x = 1\r\n")
    assert unsafe_to_write(project, ["a.py"]) == {"a.py": Reason.DIRTY}
    (project / ".gitattributes").write_text("a.py -text\n")
    git(project, "config", "core.autocrlf", "true")
    assert unsafe_to_write(project, ["a.py"]) == {"a.py": Reason.DIRTY}


def test_a_repository_with_longer_names_is_read_as_well(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    put(tmp_path, ["a.py", "b.py"])
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "all")
    put(tmp_path, ["b.py"], "x = 2\n")
    assert unsafe_to_write(tmp_path, ["a.py", "b.py"]) == {"b.py": Reason.DIRTY}


def test_every_reason_continues_a_sentence() -> None:
    assert all(reason.value.startswith(("has ", "is ")) and not reason.value.endswith(".") for reason in Reason)
