"""`torchlift survey`: many repositories as one data set, whatever some of them do to the process that looks at them."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from html_page import ALLOWED, Page

from torchlift.cli import torchlift
from torchlift.survey.child import ChildLimits, answer
from torchlift.survey.data_set import WrongDataSet, in_order, opened
from torchlift.survey.record import Needs, Surveyed
from torchlift.survey.targets import NoTargets, repositories

GER = "import torch\nx = torch.ger(a, b)\n"
TRACE = "import torch\n\n\ndef f(net, x):\n    return torch.jit.trace(net, x)\n"


def repository(folder: Path, name: str, code: str = GER, *requires: str) -> Path:
    path = folder / name
    path.mkdir(parents=True)
    needs = ", ".join(json.dumps(one) for one in ("torch>=2.13", *requires))
    (path / "pyproject.toml").write_text(f'[project]\nname = "{name}"\ndependencies = [{needs}]\n')
    (path / "a.py").write_text(code)
    return path


def survey(*words: str | Path) -> Result:
    return CliRunner().invoke(torchlift, ["survey", *map(str, words)])


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_repository_is_a_row_and_a_second_survey_looks_at_what_has_changed(here: Path) -> None:
    repository(here / "all", "base")
    user = repository(here / "all", "user", TRACE, "base>=1")
    bad = repository(here / "all", "bad")
    (bad / "torchlift.toml").write_text('extend-rules = ["rules"]\nselect = ["TL401"]\n')
    (bad / ".git").mkdir()
    (bad / ".git/HEAD").write_text(f"{'a' * 40}\n")
    for path in (here / "all").rglob("*"):
        os.utime(path, (time.time() - 100,) * 2)
    time.sleep(2.1)  # what changed a moment ago is read again, since a clock may be coarse
    done = survey("all", "--html", "s.html", "--parquet", "tables", "--no-plan")
    assert done.exit_code == 1, done.output
    assert done.output.startswith("3 repositories, 6 files: 3 findings, 2 safe to fix")
    database = here / "torchlift-survey.sqlite"
    first = rows(database, "SELECT name, status, safe, torch_newest > '2.13' FROM repositories ORDER BY name")
    assert first == [("bad", "looked at", 1, 1), ("base", "looked at", 1, 1), ("user", "looked at", 0, 1)]
    asks = rows(database, "SELECT build, driver, capability FROM repositories WHERE name = 'user'")[0]
    assert all(asks) and str(asks[0]).startswith("cu")
    assert rows(database, "SELECT commit_id, notes FROM repositories WHERE name = 'bad'") == [
        ("a" * 40, '["Its own rules (`extend-rules`) were not run."]')
    ]
    assert rows(database, "SELECT DISTINCT code, release FROM findings ORDER BY code") == [
        ("TL101", "2.10"),
        ("TL401", None),
    ]
    page = Page((here / "s.html").read_text())
    assert {tag for tag, _ in page.elements} <= ALLOWED and "base" in page.text
    assert page.text.index("base", page.text.index("In which order")) < page.text.index(
        "user", page.text.index("In which order")
    )
    assert {path.name for path in (here / "tables").iterdir()} >= {"repositories.parquet", "findings.parquet"}
    (user / "a.py").write_text("x = 1\n")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE repositories SET looked_at = 'before'")
    again = survey("all", "--no-plan", "--format", "json")
    assert [row["name"] for row in json.loads(again.output)["troubles"]] == [] and json.loads(again.output)[
        "findings"
    ] == 2
    assert rows(database, "SELECT name FROM repositories WHERE looked_at != 'before'") == [("user",)]


def test_a_process_that_is_killed_hangs_or_breaks_costs_one_row(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, dies = repository(here / "all", "good"), repository(here / "all", "dies")
    for name, code, status in (
        ("dies", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed"),
        ("hangs", "import time; time.sleep(60)", "too slow"),
        ("breaks", "raise SystemExit(3)", "failed"),
    ):
        hook = here / name
        hook.mkdir()
        (hook / "sitecustomize.py").write_text(code + "\n")
        monkeypatch.setenv("PYTHONPATH", str(hook))
        found = answer({"path": str(dies)}, ChildLimits(3.0))
        assert found is not None and found.status == status and found.problem.endswith(".")
    monkeypatch.delenv("PYTHONPATH")
    plenty = answer({"path": str(good), "with_plan": False}, ChildLimits())
    assert plenty is not None and plenty.status == "looked at" and len(plenty.findings) == 1
    little = answer({"path": str(good), "with_plan": False}, ChildLimits(memory=30_000_000))
    assert little is not None and little.status == "failed"


def test_a_worker_that_is_killed_while_others_work_costs_its_own_row_only(here: Path) -> None:
    for name in ("one", "two", "three"):
        repository(here / "all", name)
    killed: list[int] = []

    def kill() -> None:
        until = time.monotonic() + 20
        while not killed and time.monotonic() < until:
            for entry in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    ours = f"PPid:\t{os.getpid()}\n" in (entry.parent / "status").read_text()
                    if ours and b"torchlift.survey.child" in entry.read_bytes():
                        os.kill(int(entry.parent.name), signal.SIGKILL)
                        killed.append(1)
                        return
                except (OSError, ProcessLookupError):
                    continue

    if not Path("/proc/self").exists():
        pytest.skip("processes are found by /proc")
    thread = threading.Thread(target=kill)
    thread.start()
    done = survey("all", "--no-plan", "-j", "1")
    thread.join()
    assert killed and done.exit_code == 2 and "Its process was killed (SIGKILL)." in done.output
    statuses = sorted(row[0] for row in rows(here / "torchlift-survey.sqlite", "SELECT status FROM repositories"))
    assert statuses == ["killed", "looked at", "looked at"]
    assert survey("all", "--no-plan", "-j", "1").exit_code == 1  # and is looked at again the next time


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nowhere",), "There is no file or folder nowhere."),
        (("list.txt",), "list.txt:2: there is no folder gone."),
        (("all", "--database", "other.sqlite"), "is a database of something else"),
        (("all", "--database", "list.txt"), "cannot be used as a data set"),
        (("all", "--target", "soon"), "is not a torch version"),
        (("all", "--scheduler", "tcp://x:1"), "--scheduler goes with --engine dask."),
        (("empty",), "empty"),
    ],
)
def test_wrong_input_is_a_sentence(words: tuple[str, ...], says: str, here: Path) -> None:
    repository(here / "all", "one")
    (here / "empty").mkdir()
    (here / "list.txt").write_text("all/one # the first\ngone\n")
    with closing(sqlite3.connect(here / "other.sqlite")) as connection:
        connection.execute("CREATE TABLE x (y)")
    done = survey(*words, "--no-plan")
    assert done.exit_code == 2 and says in done.output and "Traceback" not in done.output


def test_targets_are_repositories_folders_of_them_and_lists(tmp_path: Path) -> None:
    one, two = repository(tmp_path / "all", "one"), repository(tmp_path / "all", "two")
    bare = tmp_path / "bare.git"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "list").write_text("# all of them\nall/two\nall/one\n\n")
    assert repositories([tmp_path / "all"]) == (one.resolve(), two.resolve())
    assert repositories([tmp_path / "list", one, bare]) == (two.resolve(), one.resolve(), bare.resolve())
    refused = answer({"path": str(bare)}, ChildLimits())
    assert refused is not None and refused.status == "refused" and "without a work tree" in refused.problem
    with pytest.raises(NoTargets):
        repositories([tmp_path / "nothing"])


def test_what_others_require_comes_first_and_circles_stand_together() -> None:
    def one(name: str, *packages: str) -> Surveyed:
        return Surveyed(f"/{name}", name, needs=Needs(packages=packages))

    known = [
        one("app", "Lib_B", "numpy"),
        one("lib-a", "lib-b"),
        one("lib-b", "core", "lib.a"),
        one("core"),
        one("core", "x"),
    ]
    order = [[each.name for each in group] for group in in_order(known)]
    assert order.index(["lib-a", "lib-b"]) > order.index(["core"]) and order[-1] == ["app"]
    assert sorted(name for group in order for name in group) == ["app", "core", "core", "lib-a", "lib-b"]
    chain = [one(f"p{number}", f"p{number + 1}") for number in range(3000)]
    assert next(group[0].name for group in in_order(chain)) == "p2999"


def test_a_data_set_of_another_version_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "s.sqlite") as data_set:
        data_set.put(Surveyed("/\udcff", "odd \udcff", problem="x"))
        assert [one.name for one in data_set.all()] == ["odd \ufffd"]
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as connection, connection:
        connection.execute("UPDATE about SET value = '99' WHERE key = 'schema_version'")
    with pytest.raises(WrongDataSet, match="another version"), opened(tmp_path / "s.sqlite"):
        pass


@pytest.mark.exhaustive
def test_a_cluster_of_dask_does_the_same(here: Path) -> None:
    pytest.importorskip("distributed")
    for name in ("one", "two", "three"):
        repository(here / "all", name)
    command = [sys.executable, "-m", "torchlift", "survey", "all", "--no-plan", "--engine", "dask", "-j", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout.startswith("3 repositories, 6 files: 3 findings"), done.stderr


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="workers are found by /proc")
def test_a_survey_goes_on_when_a_worker_of_its_cluster_is_killed(here: Path) -> None:
    pytest.importorskip("distributed")
    for number in range(12):
        repository(here / "all", f"r{number}")
    command = [sys.executable, "-m", "torchlift", "survey", "all", "--no-plan", "--engine", "dask", "-j", "2"]
    survey = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    database, killed, until = here / "torchlift-survey.sqlite", 0, time.monotonic() + 300
    while not killed and survey.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
        if database.exists() and rows(database, "SELECT 1 FROM sqlite_master WHERE name = 'repositories'"):
            workers = workers_of(survey.pid) if rows(database, "SELECT 1 FROM repositories") else []
            for worker in workers[:1]:
                os.kill(worker, signal.SIGKILL)
                killed += 1
    out, err = survey.communicate(timeout=300)
    assert killed and survey.returncode == 1, err
    assert out.startswith("12 repositories, 24 files: 12 findings")
    assert rows(database, "SELECT DISTINCT status FROM repositories") == [("looked at",)]


def workers_of(parent: int) -> list[int]:
    """Processes of dask's workers, told from its resource tracker by how they were started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            is_child = f"PPid:\t{parent}\n" in (entry / "status").read_text()
            if is_child and b"spawn_main" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found
