"""One run of the user's command in the copy, and what it told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import field
from pathlib import Path
from time import monotonic
from typing import Any

from torchlift.at_start import with_room
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.verification.tree_copy import TreeCopy

_HERE = Path(__file__).parent
# They would lead git to the user's tree, and pytest to take itself for one that a test has started.
_NOT_PASSED_ON = frozenset(
    "GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX GIT_COMMON_DIR GIT_OBJECT_DIRECTORY PYTEST_CURRENT_TEST".split()
)
_TAIL = 20_000
_GRACE = 5

Leaf = tuple[Any, ...]


@dataclass(frozen=True)
class SingleTest:
    """How one test ended.

    Attributes:
        outcome: `passed`, `failed`, `skipped`, `expected to fail`, or `ended` where the process did before the test.
        error: the line that says how it failed.
        frames: files and lines that the failure went through, the outermost first.
    """

    outcome: str
    error: str = ""
    frames: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class CommandRun:
    """What a run came to.

    Attributes:
        status: exit status, negative for a signal; None if it ran past the limit.
        seconds: how long it took.
        output: the end of what it wrote.
        tests: by their ids, those of pytest.
        collections: files of tests that could not be imported.
        returns: by test, module and function, what each call returned, with its number in the order of its process.
        modules: file by name, of those imported from the copy or from the user's tree.
        processes: number of Python processes that told something.
    """

    status: int | None
    seconds: float
    output: str
    tests: Mapping[str, SingleTest] = field(default_factory=dict)
    collections: Mapping[str, SingleTest] = field(default_factory=dict)
    returns: Mapping[tuple[str, str, str], tuple[tuple[int, tuple[Leaf, ...]], ...]] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    processes: int = 0


def run_command(
    command: str, copy: TreeCopy, folder: str, *, limit: float, tests: Collection[str] | None, returns: bool
) -> CommandRun:
    """Run it to its end, or to the limit; whatever happens, none of its processes is left.

    Args:
        command: as the user wrote it, for the shell.
        copy: where it runs.
        folder: its working directory, relative to the copy.
        limit: most time, in seconds.
        tests: ids of the tests to run; all if None.
        returns: whether what functions return is noted.
    """
    spool = copy.spool()
    task = {
        "tree": copy.tree,
        "copy": copy.folder,
        "tests": None if tests is None else sorted(tests),
        "returns": returns,
    }
    Path(spool, "task.json").write_text(json.dumps(task), encoding="utf-8")
    working = os.path.join(copy.folder, folder)
    begin = monotonic()
    with Path(spool, "output").open("w+b") as output:
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=working,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_environment(copy, spool, working),
            start_new_session=True,
        )
        status: int | None = None
        try:
            status = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _end(process)
        seconds = monotonic() - begin
        output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL))
        told = output.read().decode("utf-8", "replace")
    return _read(Path(spool), CommandRun(status, seconds, told))


def _environment(copy: TreeCopy, spool: str, working: str) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    paths = []
    for entry in environment.get("PYTHONPATH", "").split(os.pathsep):
        is_inside = entry == copy.tree or entry.startswith(copy.tree + os.sep)
        if entry:
            paths.append(copy.folder + entry[len(copy.tree) :] if is_inside else entry)
    # The order of sets may not differ between two runs that are compared.
    environment.setdefault("PYTHONHASHSEED", "0")
    environment |= {"PYTHONPATH": os.pathsep.join(paths), "TORCHLIFT_VERIFY": spool, "PWD": working}
    return with_room(environment, "_torchlift_verify", str(_HERE / "inside"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command with all that it started."""
    if not hasattr(os, "killpg"):
        process.kill()
        process.wait()
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            break
        try:
            process.wait(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _read(spool: Path, run: CommandRun) -> CommandRun:
    """What the processes of the command told."""
    events: list[tuple[str, dict[str, Any]]] = []
    files = sorted(spool.glob("*.jsonl"))
    for file in files:
        for line in file.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            try:
                kind, about = json.loads(line)
            except ValueError:
                continue  # a process that was killed as it wrote
            events.append((kind, about))
    tests: dict[str, SingleTest] = {}
    collections: dict[str, SingleTest] = {}
    returns: dict[tuple[str, str, str], list[tuple[int, tuple[Leaf, ...]]]] = {}
    modules: dict[str, str] = {}
    begun: dict[str, bool] = {}
    for kind, about in events:
        if kind == "begin":
            begun.setdefault(about["id"], False)
        elif kind == "attempt":
            tests.pop(about["id"], None)  # what is tried again counts as it ends
        elif kind == "end":
            begun[about["id"]] = True
        elif kind == "test":
            known = tests.get(about["id"])
            if known is None or known.outcome != "failed":
                tests[about["id"]] = _test(about)
        elif kind == "collect":
            collections[about["id"]] = _test({**about, "outcome": "failed"})
        elif kind == "returns":
            key = (about["test"], about["module"], about["name"])
            returns.setdefault(key, []).extend(
                (number, tuple(map(tuple, leaves))) for number, leaves in about["values"]
            )
        elif kind == "modules":
            modules.update(dict(about["files"]))
    tests.update({test: SingleTest("ended") for test, ended in begun.items() if not ended and test not in tests})
    return CommandRun(
        run.status,
        run.seconds,
        run.output,
        tests,
        collections,
        {key: tuple(values) for key, values in returns.items()},
        modules,
        len(files),
    )


def _test(about: Mapping[str, Any]) -> SingleTest:
    frames = tuple((str(path), int(line)) for path, line in about.get("frames", ()))
    return SingleTest(about["outcome"], about.get("error", ""), frames)
