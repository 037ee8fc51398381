"""Fixes tried on a copy of the project by a command, and what is written in the end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import tried_project as project
from recorded_evidence import runs, site
from repositories import commit
from tried_project import BROKEN_IMPORT, GOOD, SILENT, WRONG

from torchlift.migrate import Config, RunResult, migrate
from torchlift.migrate.alternatives import Alternatives
from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, read
from torchlift.migrate.verification.baseline import Baseline
from torchlift.migrate.verification.clusters import clusters_of
from torchlift.migrate.verification.complaint import Complaint, CopiedLine
from torchlift.migrate.verification.failed import VerificationFailed
from torchlift.migrate.verification.tree_copy import TreeCopy
from torchlift.migrate.verification.trials import CommandTrials, Verification

Tried = Callable[..., RunResult]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that projects are made in; copies of them go into another one of this test's own."""
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "copies"))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    return tmp_path


@pytest.fixture
def tried(here: Path, monkeypatch: pytest.MonkeyPatch) -> Tried:
    rules = project.write_rules(here / "rules")

    def run(
        folder: Path, command: str = project.SCRIPT_COMMAND, config: Config | None = None, **more: object
    ) -> RunResult:
        monkeypatch.chdir(folder)
        config = replace(config or Config(), select=("X",), extend_rules=(str(rules),), allow_own_rules=True)
        return migrate([folder], config, verify=Verification(command, **more))  # type: ignore[arg-type]

    return run


def changed(folder: Path) -> set[str]:
    done = subprocess.run(["git", "status", "--porcelain"], cwd=folder, check=True, capture_output=True, text=True)
    return {line[3:] for line in done.stdout.splitlines()}


def copies(here: Path) -> list[Path]:
    return list((here / "copies").glob("torchlift-verify-*/*"))


def work_trees(folder: Path) -> int:
    return len(
        subprocess.run(["git", "worktree", "list"], cwd=folder, check=True, capture_output=True).stdout.splitlines()
    )


def script(uses: tuple[str, ...], here: Path, before: str = "", more: Mapping[str, str] | None = None) -> Path:
    return project.write_project(here / "p", uses, {"check.py": project.CHECK.format(before=before), **(more or {})})


def parts(*numbers: int) -> set[str]:
    return {f"part_{number}.py" for number in numbers}


def test_what_a_plain_command_does_not_like_is_left_out_and_the_rest_is_written(here: Path, tried: Tried) -> None:
    folder = script((GOOD, GOOD, BROKEN_IMPORT, GOOD, GOOD), here)
    result = tried(folder)
    assert changed(folder) == parts(0, 1, 3, 4)
    (left,) = [finding for outcome in result.outcomes for finding in outcome.left]
    assert left.code == "X101" and left.dropped is not None
    assert "cannot import name 'not_there' from 'library'" in left.dropped.error
    assert left.dropped.by == "the command"
    assert left.dropped.sentence in (left.help or "")
    assert not copies(here) and work_trees(folder) == 1


def test_other_values_are_noticed_although_the_command_asserts_nothing(here: Path, tried: Tried) -> None:
    folder = script((GOOD, SILENT, GOOD), here)
    result = tried(folder)
    assert changed(folder) == parts(0, 2)
    (left,) = [finding for outcome in result.outcomes for finding in outcome.left]
    assert left.dropped is not None
    assert (left.dropped.by, left.dropped.error) == ("what part_1.part returns", "10 where there was 7")


def test_six_groups_that_bring_the_same_bad_import_are_left_out_together(here: Path, tried: Tried) -> None:
    uses = [f"def {name}(x):\n    return library.double_imported(x) + 1\n" for name in ("part", *"abcde")]
    good = "def f(x):\n    return library.double(x)\n"
    folder = script((GOOD,), here, more={"part_1.py": "\n\n".join(["import library\n", *uses, good])})
    counted: list[str] = []
    result = tried(folder, say=counted.append)
    assert changed(folder) == parts(0, 1)
    assert (folder / "part_1.py").read_text().count("double_imported") == 6
    assert "return library.twice(x)" in (folder / "part_1.py").read_text()
    left = [finding.dropped for outcome in result.outcomes for finding in outcome.left]
    assert len(left) == 6
    assert all(why is not None and "cannot import name 'not_there'" in why.error for why in left)
    assert sum(sentence.startswith("Run ") for sentence in counted) <= 8


@pytest.mark.exhaustive
def test_twenty_groups_of_which_three_are_bad(here: Path, tried: Tried) -> None:
    uses = [GOOD] * 20
    uses[3], uses[9], uses[15] = BROKEN_IMPORT, WRONG, SILENT
    folder = project.write_project(here / "p", uses)
    counted: list[str] = []
    result = tried(folder, project.pytest_command(), say=counted.append)
    assert changed(folder) == parts(*range(20)) - parts(3, 9, 15)
    left = {f.path: f.dropped for outcome in result.outcomes for f in outcome.left}
    assert {path: (drop.by, drop.error) for path, drop in left.items() if drop is not None} == {
        "part_3.py": (
            "the import of tests/test_part_3.py",
            "ImportError: cannot import name 'not_there' from 'library' (library.py)",
        ),
        "part_9.py": ("`tests/test_part_9.py::test_part`", "assert 18 == 15"),
        "part_15.py": ("what part_15.part returns in tests/test_part_15.py::test_part", "24 where there was 21"),
    }
    assert sum(sentence.startswith("Run ") for sentence in counted) <= 15


@pytest.mark.exhaustive
def test_a_test_that_fails_points_at_what_its_functions_return(here: Path, tried: Tried) -> None:
    folder = project.write_project(here / "p", (GOOD, GOOD, WRONG, GOOD, GOOD))
    result = tried(folder, project.pytest_command())
    assert changed(folder) == parts(0, 1, 3, 4)
    (left,) = [finding for outcome in result.outcomes for finding in outcome.left]
    assert left.dropped is not None and left.dropped.by == "`tests/test_part_2.py::test_part`"
    assert left.dropped.error == "assert 11 == 8"


def test_what_ran_in_a_failing_test_is_suspected_behind_what_its_failure_went_through(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded places first, then functions whose results were noted, as long as that leaves out half of the groups."""
    folder = script((GOOD,) * 6, here)
    monkeypatch.chdir(folder)
    rules = (project.write_rules(here / "rules"),)
    options = RunOptions(folder, tuple(sorted(parts(*range(6)))), Mode.WRITE, frozenset({"X100"}), own_rules=rules)
    files = {name: (folder / name).read_text() for name in parts(2, 4)}
    recorded = runs(
        files, *(site(files, name, "library.double", "torch.jit.script", tests=["t.py::one"]) for name in files)
    )
    options = replace(options, settings=replace(options.settings, evidence=recorded))
    alternatives = Alternatives(options, read(options))
    with TreeCopy(folder) as copy:
        trials = CommandTrials(Verification("x"), copy, alternatives, clusters_of(alternatives.first_fixes()))
        modules = {f"part_{number}": f"{copy.folder}/part_{number}.py" for number in range(6)}
        ran = {("t.py::one", f"part_{number}", "part"): () for number in (1, 2, 4)}
        trials.baseline = Baseline(0, 0.0, returns=ran, modules=modules)
        place = CopiedLine("part_5.py", 5)
        failure = Complaint("test t.py::one", "t.py::one", "it fails", (place,), ("t.py::one",))

        def suspected(on: range, complaint: Complaint) -> list[set[int]]:
            return [set().union(*units) for units in trials.suspects(frozenset(on), complaint)]

        assert suspected(range(6), failure) == [{5}, {2, 4}, {1, 2, 4}]
        assert suspected(range(5), failure) == [{2, 4}]
        assert suspected(range(6), replace(failure, tests=("t.py::two",))) == [{5}]


FLAKY = """\
import pathlib

def test_flaky():
    count = pathlib.Path({file!r})
    number = int(count.read_text()) if count.exists() else 0
    count.write_text(str(number + 1))
    assert number not in {fails!r}
"""


@pytest.mark.parametrize(
    "fails",
    [
        (2,),
        pytest.param((0,), marks=pytest.mark.exhaustive),
        pytest.param((2, 4), marks=pytest.mark.exhaustive),
        pytest.param((1, 2), marks=pytest.mark.exhaustive),
    ],
)
def test_a_test_that_fails_now_and_then_blames_nobody(fails: tuple[int, ...], here: Path, tried: Tried) -> None:
    test = FLAKY.format(file=str(here / "count"), fails=fails)
    folder = project.write_project(here / "p", (GOOD, GOOD, GOOD), {"tests/test_flaky.py": test})
    result = tried(folder, project.pytest_command())
    assert changed(folder) == parts(0, 1, 2)
    assert any("nobody was blamed for it: tests/test_flaky.py::test_flaky" in note for note in result.notes)


def test_a_test_that_fails_without_any_fix_says_nothing_about_fixes(here: Path, tried: Tried) -> None:
    test = "from part_0 import part\n\ndef test_known():\n    assert part(3) == 'no'\n"
    folder = project.write_project(here / "p", (GOOD, WRONG), {"tests/test_known.py": test})
    result = tried(folder, project.pytest_command())
    assert changed(folder) == parts(0)
    assert any("1 test fails (tests/test_known.py::test_known) without any fix, too" in note for note in result.notes)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("exit 3", "fails without any fix: exit status 3"),
        ("../tools/pytest", "name the program by its whole path"),
        ("true", "started no Python that could be watched"),
        (f'"{sys.executable}" -c "print(1)"', "does not import any of the 2 files that the fixes change"),
        (f'"{sys.executable}" -c "import time; time.sleep(60)"', "ran past the limit of 1 s"),
        (f'cd "$HERE" && {project.SCRIPT_COMMAND}', "and not from the copy in which fixes are tried"),
    ],
)
def test_a_command_that_proves_nothing_stops_it(
    command: str, says: str, here: Path, tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = script((GOOD, GOOD), here)
    monkeypatch.setenv("HERE", str(folder))
    with pytest.raises(VerificationFailed, match=says):
        tried(folder, command, timeout=1.0 if "sleep" in command else 60.0)
    assert changed(folder) == set()
    assert not copies(here)


def test_an_editable_installation_is_led_to_the_copy(here: Path, tried: Tried) -> None:
    environment = here / "p" / "tools" / ".venv"
    project.write_project(here / "p", (), {"src/one/__init__.py": "", "setup.cfg": ""})
    folder = here / "p"
    (folder / ".gitignore").write_text(".venv\n__pycache__\n")
    (folder / "src/one/work.py").write_text("import library\n\n\ndef part(x):\n    return library.double(x)\n")
    (folder / "src/library.py").write_text((folder / "library.py").read_text())
    (folder / "library.py").unlink()
    (folder / "check.py").write_text("import one.work\n\nassert one.work.part(3) == 6\n")
    commit(folder)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "project.pth").write_text(f"{folder / 'src'}\n")
    tried(folder, "tools/.venv/bin/python check.py")
    assert changed(folder) == {"src/one/work.py"}


def test_what_is_not_committed_comes_along_and_what_git_ignores_does_not(here: Path, tried: Tried) -> None:
    before = (
        "import new; assert not pathlib.Path('cache').exists(); assert pathlib.Path('note').read_text() == 'changed'"
    )
    folder = script((GOOD,), here, before, {"note": "committed"})
    (folder / ".gitignore").write_text("__pycache__\ncache\nbuilt.py\n")
    (folder / "new.py").write_text("import built\n")
    (folder / "built.py").write_text("")
    (folder / "cache").write_text("")
    (folder / "note").write_text("changed")
    tried(folder)
    assert "part_0.py" in changed(folder)


def test_runs_leave_nothing_for_the_next_and_nothing_in_the_users_tree(here: Path, tried: Tried) -> None:
    before = "assert not pathlib.Path('left').exists(); pathlib.Path('left').write_text('x'); pathlib.Path('note').write_text('x')"
    folder = script(
        (GOOD, BROKEN_IMPORT), here, before + "; assert pathlib.Path('library.py').exists()", {"note": "mine"}
    )
    tried(folder)
    assert changed(folder) == parts(0)
    assert (folder / "note").read_text() == "mine"


def test_files_with_uncommitted_changes_are_neither_tried_nor_written(here: Path, tried: Tried) -> None:
    folder = script((GOOD, GOOD), here)
    with (folder / "part_1.py").open("a") as file:
        file.write("# mine\n")
    result = tried(folder)
    assert "library.double" in (folder / "part_1.py").read_text()
    assert "library.twice" in (folder / "part_0.py").read_text()
    assert any("1 of 1 group of fixes kept" in note for note in result.notes)


def test_a_project_without_git_is_tried_on_a_plain_copy(here: Path, tried: Tried) -> None:
    folder = script((GOOD, BROKEN_IMPORT), here)
    subprocess.run(["rm", "-rf", folder / ".git"], check=True)
    tried(folder, config=Config(allow_no_vcs=True))
    assert "library.twice" in (folder / "part_0.py").read_text()
    assert "library.double_imported" in (folder / "part_1.py").read_text()


def test_no_hook_and_no_filter_of_the_repository_runs(here: Path, tried: Tried) -> None:
    folder = script((GOOD,), here, more={".gitattributes": "*.py filter=own\n"})
    for name in ("post-checkout", "post-index-change"):
        hook = folder / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {here}/ran\n")
        hook.chmod(0o755)
    for name in ("smudge", "clean"):
        subprocess.run(
            ["git", "config", f"filter.own.{name}", f"sh -c 'touch {here}/ran; cat'"], cwd=folder, check=True
        )
    tried(folder, config=Config(allow_dirty=True))
    assert "library.twice" in (folder / "part_0.py").read_text()
    assert not (here / "ran").exists()


KILL = """\
import os, pathlib, signal
count = pathlib.Path({file!r})
count.write_text(str(int(count.read_text()) + 1 if count.exists() else 1))
if int(count.read_text()) == {at}:
    shell = int(open(f"/proc/{{os.getppid()}}/stat").read().rpartition(")")[2].split()[1])
    own = pathlib.Path("/proc", str(os.getppid()), "cmdline").read_bytes()
    os.kill(os.getppid() if b"torchlift" in own and b"check.py" not in own.split(b"--verify")[0] else shell, signal.{signal})
"""


def command_line(here: Path, *more: str, command: str = project.SCRIPT_COMMAND) -> list[str]:
    rules = project.write_rules(here / "rules")
    begin = [sys.executable, "-m", "torchlift", "migrate", ".", "--extend-rules", str(rules), "--select", "X"]
    return [*begin, "--verify", command, *more]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the program finds its parent in /proc")
@pytest.mark.parametrize(
    ("name", "status"),
    [("SIGKILL", -signal.SIGKILL), ("SIGINT", 130), pytest.param("SIGTERM", 143, marks=pytest.mark.exhaustive)],
)
def test_a_run_that_is_ended_leaves_the_users_files_and_the_next_one_cleans_up(
    name: str, status: int, here: Path
) -> None:
    folder = script((GOOD, GOOD), here, KILL.format(file=str(here / "count"), at=3, signal=name))
    done = subprocess.run(command_line(here), cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == status, done.stderr
    assert changed(folder) == set()
    assert bool(copies(here)) == (name == "SIGKILL")
    assert work_trees(folder) == 1 + (name == "SIGKILL")
    again = subprocess.run(command_line(here), cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert again.returncode == 0, again.stderr
    assert (f"Removed the copy of {folder} that an interrupted run had left behind." in again.stderr) == (
        name == "SIGKILL"
    )
    assert changed(folder) == parts(0, 1)
    assert not copies(here) and work_trees(folder) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(10))
def test_a_kill_at_any_moment_leaves_the_users_files(seed: int, here: Path) -> None:
    uses = [GOOD] * 20
    uses[3], uses[9], uses[15] = BROKEN_IMPORT, WRONG, SILENT
    folder = script(tuple(uses), here, "import time; time.sleep(0.6)")
    process = subprocess.Popen(
        command_line(here), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    time.sleep(random.Random(seed).uniform(0.3, 6))
    early = process.poll() is None
    process.kill()
    process.communicate()
    assert early
    assert changed(folder) == set()
    subprocess.run(command_line(here), cwd=folder, capture_output=True, check=False, timeout=300)
    assert not copies(here) and work_trees(folder) == 1


def test_what_was_dropped_is_in_every_format_and_a_patch_has_what_is_kept(here: Path) -> None:
    folder = script((GOOD, BROKEN_IMPORT), here)
    environment = {**os.environ, "NO_COLOR": "1"}

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        line = command_line(here, "--diff", *more)
        return subprocess.run(
            line, cwd=folder, capture_output=True, text=True, check=False, env=environment, timeout=60
        )

    patch = run("--output-format", "json")
    assert patch.returncode == 1
    assert "+    y = library.twice(x)" in patch.stdout and "part_1.py" not in patch.stdout
    (found,) = [one for one in json.loads(patch.stderr[: patch.stderr.rindex("}") + 1])["findings"] if not one["fixed"]]
    assert found["dropped"]["by"] == "the command"
    assert "not_there" in found["dropped"]["error"]
    assert changed(folder) == set()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--check", "--verify", "x"], "--verify does not go with --check"),
        (["--verify", " "], "--verify needs a command"),
        (["--verify-runs", "9"], "--verify-runs goes with --verify"),
        (["--flaky"], "--flaky goes with --verify"),
        (["--verify", "x", "--verify-timeout", "soon"], "'soon' is no length of time; write 90s, 10m or 1h."),
        (["--verify", "x", "--verify-runs", "3"], "3 is not in the range"),
        (["-", "--stdin-filename", "a.py", "--verify", "x"], "--verify does not go with standard input"),
    ],
)
def test_options_without_a_meaning_are_refused(options: list[str], says: str, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from torchlift.migrate.cli import migrate as command

    done = CliRunner().invoke(command, [*([] if "-" in options else [str(tmp_path)]), *options])
    assert done.exit_code == 2
    assert says in done.output
