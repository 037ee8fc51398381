"""What the tests notice: `python bench/mutants.py --number 200 --seed 1 --map MAP --json RESULTS`.

Chosen at random, one small change of a function at a time (`mutations.py`) is made to torchlift as it runs, and the tests
that execute the changed line are run until one fails. A mutant that no test kills is listed with its place, to be read:
it lacks a test, or it is no defect.

The tests are collected once. Each mutant is a fork of that process in which the code of the changed function is exchanged,
so what runs in a process of its own (children of the doctor, the zygote of programs under torch, commands) does not see
the change: mutants of lines that no test executes in its own process are judged apart, by the tests of their folder in a
copy of the package (`--apart`). `--exhaustive` runs the tests at full size, to see what the quick ones lose.

Which tests execute which of the chosen places, and how long they take, is seen by running every test once while a call
stands before each place. MAP keeps it for another run with the same choice. Run this in the environment of the tests.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from chosen import FOLDERS, ROOT, Mutant, add_choice, arguments_of, chosen
from mutations import Mutation

# Named one by one, so that those run, too, whose results are noted (`tests/support/noted_tests.py`).
TESTS = [f"tests/{folder.name}" for folder in sorted((ROOT / "tests").iterdir()) if any(folder.glob("test_*.py"))]


def main() -> None:
    parser = argparse.ArgumentParser(description="See which small mistakes in torchlift the tests notice.")
    add_choice(parser)
    parser.add_argument("--map", type=Path, help="which tests execute the chosen places; made when missing")
    parser.add_argument("--json", type=Path, metavar="RESULTS", help="where to write what became of each mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a processor)")
    parser.add_argument("--most", type=float, default=120, help="seconds of tests for a mutant (default: 120)")
    parser.add_argument("--apart", action="store_true", help="judge what no test executes in its own process, too")
    parser.add_argument("--exhaustive", action="store_true", help="run the tests at full size")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="folders or files of the tests (default: all)")
    parser.add_argument("--job", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--see", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job is not None:
        raise SystemExit(_job(options))
    options.map = options.map or Path(tempfile.mkdtemp(prefix="mutants-"), "map.json")
    if not options.map.exists():
        print("Every test is run once to see which of the chosen places it executes.", flush=True)
        _merge([_read(part) for part in _jobs(options, "--see")], options)
    elif _read(options.map)["choice"] != _choice(options):
        raise SystemExit(f"{options.map} is of another choice of mutants, or of other code; remove it.")
    mutants = [Mutant(**{**row, "mutation": Mutation(**row["mutation"])}) for row in _ran(options)]
    if options.apart:
        for mutant in mutants:
            if mutant.fate == "unseen":
                _apart(mutant, options.most * 4)
    if options.json:
        options.json.write_text(json.dumps([asdict(mutant) for mutant in mutants], indent=1) + "\n")
    _tell(mutants)


def _tell(mutants: list[Mutant]) -> None:
    for mutant in mutants:
        if mutant.fate in {"survived", "unseen"}:
            print(f"{mutant.fate}: {mutant.told()} ({mutant.tests} tests)")
    for folder in FOLDERS:
        fates = Counter(mutant.fate for mutant in mutants if mutant.path.startswith(f"{folder}/"))
        print(f"{folder}: {_shares(fates)}")
    print(f"all: {_shares(Counter(mutant.fate for mutant in mutants))}")


def _shares(fates: Counter[str]) -> str:
    dead = fates["killed"] + fates["timeout"]
    whole = sum(fates.values())
    return f"{dead} of {whole} dead ({dead / whole:.0%}), {dict(fates)}" if whole else "none chosen"


def _jobs(options: argparse.Namespace, *arguments: str) -> list[Path]:
    """Run this script once a processor, each with its share of the work, and return what each wrote."""
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    parts = [folder / f"{job}.json" for job in range(options.jobs)]
    command = [sys.executable, __file__, "--map", str(options.map), "--jobs", str(options.jobs), *arguments]
    command += ["--most", str(options.most), "--tests", *options.tests, *arguments_of(options)]
    command += ["--exhaustive"] if options.exhaustive else []
    running = [
        subprocess.Popen([*command, "--job", str(job), "--json", str(part)], cwd=ROOT) for job, part in enumerate(parts)
    ]
    codes = [process.wait() for process in running]
    if any(code not in (0, 1) for code in codes):  # 1: a test fails with a call before each place; it is listed above
        raise SystemExit("A process of the tests failed; see above.")
    return parts


def _ran(options: argparse.Namespace) -> list[dict[str, Any]]:
    return [row for part in _jobs(options) for row in _read(part)]


def _read(path: Path) -> Any:
    return json.loads(path.read_text())


def _merge(parts: list[dict[str, Any]], options: argparse.Namespace) -> None:
    tests: dict[str, list[str]] = {}
    for part in parts:
        for number, found in part["tests"].items():
            tests.setdefault(number, []).extend(found)
    seconds = {nodeid: took for part in parts for nodeid, took in part["seconds"].items()}
    options.map.write_text(json.dumps({"choice": _choice(options), "seconds": seconds, "tests": tests}))


def _choice(options: argparse.Namespace) -> list[str]:
    return [mutant.told() for mutant in chosen(options)]


def _job(options: argparse.Namespace) -> int:
    arguments = [*options.tests, "-q", "-p", "no:cacheprovider", "-n", "0", "-o", "addopts="]
    arguments += ["--import-mode=importlib", "--strict-markers"]
    arguments += ["--exhaustive"] if options.exhaustive else []
    os.chdir(ROOT)
    return int(pytest.main(arguments, plugins=[_Seeing(options) if options.see else _Mutating(options)]))


class _Seeing:
    """Runs this process' share of the tests and notes which of the chosen places each executes."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.seen: set[int] = set()
        self.prepared: dict[Any, set[int]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """What a fixture executes is executed for every test that uses it, not only for the first."""
        before = self.seen.copy()
        self.seen.clear()
        try:
            return (yield)
        finally:
            self.prepared[fixturedef] = self.seen.copy()
            self.seen |= before

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        seconds: dict[str, float] = {}
        tests: dict[int, list[str]] = {}
        setattr(builtins, HIT, self.seen.add)
        _watch(chosen(self.options))
        for item, following in _with_next(session.items[self.options.job :: self.options.jobs]):
            self.seen.clear()
            start = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            seconds[item.nodeid] = round(time.process_time() - start, 3)
            fixtures = item._fixtureinfo.name2fixturedefs.values()
            used = (self.prepared.get(fixture, set()) for fixtures_of_name in fixtures for fixture in fixtures_of_name)
            for number in self.seen.union(*used):
                tests.setdefault(number, []).append(item.nodeid)
        self.options.json.write_text(json.dumps({"seconds": seconds, "tests": tests}))
        return True


def _with_next(items: list[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Each test with the one that follows, for which fixtures of a session are kept."""
    return zip(items, [*items[1:], None], strict=True)


HANGS = 200.0  # seconds on top, after which a test waits for something that does not come, also on a busy machine
HIT = "__torchlift_mutant_hit__"


def _watch(mutants: list[Mutant]) -> None:
    """Make the functions of all mutants call `HIT` before the statement that each changes."""
    places: dict[str, list[tuple[int, int]]] = {}
    for number, mutant in enumerate(mutants):
        places.setdefault(mutant.module, []).append((number, mutant.mutation.line))
    for name, wanted in places.items():
        module = importlib.import_module(name)
        assert module.__file__ is not None
        text = Path(module.__file__).read_text(encoding="utf-8")
        tree = ast.parse(text)
        for number, line in wanted:
            _announce(tree, number, line)
        _exchange(module.__file__, compile(text, module.__file__, "exec"), compile(tree, module.__file__, "exec"))


def _announce(tree: ast.Module, number: int, line: int) -> None:
    """Put a call of `HIT` before the innermost statement of a function that covers `line`."""
    block, place = next(_blocks(tree, line))
    call = ast.parse(f"{HIT}({number})").body[0]
    for node in ast.walk(call):
        ast.copy_location(node, block[place])
    block.insert(place, call)


def _blocks(tree: ast.Module, line: int) -> Iterator[tuple[list[ast.stmt], int]]:
    """The blocks with a statement that covers `line`, and its index there; the innermost first."""
    for node in reversed(list(ast.walk(tree))):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for place, statement in enumerate(block) if isinstance(block, list) else ():
                if statement.lineno <= line <= (statement.end_lineno or 0) and not _is_docstring(statement):
                    yield block, place


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Mutating:
    """Makes this process' share of the mutants, each in a fork, and runs the tests that execute the changed line."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.map = _read(options.map)
        self.failed = ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        mutants = []
        for number, mutant in list(enumerate(chosen(self.options)))[self.options.job :: self.options.jobs]:
            executing = self.map["tests"].get(str(number), [])
            tests = sorted((nodeid for nodeid in executing if nodeid in items), key=self._seconds)
            mutant.tests = len(tests)
            start = time.monotonic()
            if tests:
                self._judge(mutant, [items[nodeid] for nodeid in tests])
            else:
                mutant.fate = "unseen"
            mutant.seconds = round(time.monotonic() - start, 1)
            print(f"\n{mutant.fate} {mutant.seconds} s: {mutant.told()} {mutant.by}", flush=True)
            mutants.append(mutant)
            self.options.json.write_text(json.dumps([asdict(mutant) for mutant in mutants]))
        return True

    def _seconds(self, nodeid: str) -> float:
        return float(self.map["seconds"].get(nodeid, 0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid

    def _judge(self, mutant: Mutant, items: list[pytest.Item]) -> None:
        mutant.fate, mutant.by = self._in_a_fork(mutant, items)
        killers = [item for item in items if item.nodeid == mutant.by]
        if killers and self._in_a_fork(None, killers)[0] != "survived":
            mutant.fate = "unclear"

    def _in_a_fork(self, mutant: Mutant | None, items: list[pytest.Item]) -> tuple[str, str]:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.setsid()
            os.close(read)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            os.write(write, self._until_one_fails(mutant, items).encode())
            os._exit(0)
        os.close(write)
        return _answer(child, read, self.options.most + HANGS)

    def _until_one_fails(self, mutant: Mutant | None, items: list[pytest.Item]) -> str:
        try:
            if mutant is not None:
                _mutate(mutant)
            until = time.monotonic() + self.options.most
            for item, following in _with_next(items):
                if time.monotonic() > until:
                    break
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    return f"killed\n{self.failed}"
        except BaseException as error:  # whatever stops the tests has been noticed
            return f"killed\n{type(error).__name__}"
        return "survived\n"


def _answer(child: int, read: int, most: float) -> tuple[str, str]:
    """What a child says until it ends or `most` seconds have passed."""
    import select

    try:
        ready, _, _ = select.select([read], [], [], most)
        if not ready:
            return "timeout", ""
        fate, _, by = os.read(read, 10_000).decode().partition("\n")
        return (fate, by) if fate else ("killed", "the process ended")
    finally:
        os.close(read)
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _mutate(mutant: Mutant) -> None:
    """Give every living function of the changed file its changed code."""
    module = importlib.import_module(mutant.module)
    assert module.__file__ is not None
    text = Path(module.__file__).read_text(encoding="utf-8")
    changed = compile(mutant.mutation.applied(text), module.__file__, "exec")
    _exchange(module.__file__, compile(text, module.__file__, "exec"), changed)
    for function in gc.get_objects():
        if type(function) is _CACHED:
            function.cache_clear()


def _exchange(file: str, before: CodeType, after: CodeType) -> None:
    """Give every living function of `file` the code that it has in `after`."""
    old, new = dict(_functions(before)), dict(_functions(after))
    changed = {place: new[place] for place, code in old.items() if place in new and code != new[place]}
    gc.unfreeze()  # the tests freeze what was imported (`tests/conftest.py`), and what is frozen is not listed
    if not changed:
        raise RuntimeError("the change is in no function")
    for function in [found for found in gc.get_objects() if type(found) is FunctionType]:
        code = function.__code__
        place = (code.co_qualname, code.co_firstlineno)
        if code.co_filename == file and place in changed:
            function.__code__ = changed[place]


_CACHED = type(importlib.import_module("functools").lru_cache(lambda: None))


def _functions(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _functions(constant)


def _apart(mutant: Mutant, most: float) -> None:
    """Judge a mutant by the tests of its folder, in a copy of the package that processes of the tests run, too."""
    import shutil

    import torchlift

    installed = Path(torchlift.__path__[0])
    tests = next(tests for folder, tests in FOLDERS.items() if mutant.path.startswith(f"{folder}/"))
    with tempfile.TemporaryDirectory(prefix="mutant-") as scratch:
        copy = Path(scratch, "torchlift")
        shutil.copytree(installed, copy, ignore=shutil.ignore_patterns("__pycache__"))
        file = copy / mutant.path.removeprefix("src/torchlift/")
        file.write_text(mutant.mutation.applied(file.read_text(encoding="utf-8")), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "pytest",
            f"tests/{tests}",
            "tests/whole",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
        ]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": scratch},
                capture_output=True,
                text=True,
                timeout=most,
                check=False,
            )
        except subprocess.TimeoutExpired:
            mutant.fate = "timeout"
            return
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    mutant.fate, mutant.by = ("killed", failed[0] if failed else "") if done.returncode else ("survived", "")


if __name__ == "__main__":
    main()
