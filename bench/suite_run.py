"""Run test suites of real projects before and after a migration: `python bench/suite_run.py DEST [NAME ...]`.

Each project is copied into a fresh git repository, its chosen tests are run on the copy, the copy is migrated in place
with the safe fixes, and the same tests are run again in the same folder; with `--unsafe-fixes` the same once more with
those. Outcomes are compared test by test: a test that fails another way than before counts as changed, too. Exit code 1
when a test that passed with the original code does not pass after the safe fixes.

Sources lie below DEST in the folders that `suites.py` names: a git clone, of which the pinned commit is taken, or the
unpacked source archive that `corpus.py` pins. Each project has an environment in `DEST/venvs/NAME`. What is missing is
fetched and made. The code of the projects is run, with your rights.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import corpus
from fetch_corpus import FetchError, clone_from_github, download
from scratch import as_repository, changed, git, snapshot
from suites import Suite, chosen
from torchlift_command import DEFAULT, migrate

MODES: dict[str, list[str]] = {"safe": [], "unsafe": ["--unsafe-fixes"]}

# A pytest plugin that says which files the tests imported.
WATCHER = "suite_run_watcher"
WATCHER_SOURCE = """
import os, pathlib, sys


def pytest_sessionfinish():
    files = {getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())}
    pathlib.Path(os.environ["SUITE_RUN_LOADED"]).write_text("\\n".join(map(str, files)), encoding="utf-8")
"""


@dataclass(frozen=True)
class Outcomes:
    """What one run of a suite gave.

    Attributes:
        tests: outcome by test id: `passed`, `skipped`, or how it failed.
        loaded: files of the project that were imported, by path.
        code: exit code of pytest.
        wall: seconds.
        log: end of what pytest printed.
    """

    tests: dict[str, str]
    loaded: frozenset[str]
    code: int
    wall: float
    log: str

    @property
    def counts(self) -> str:
        """Passed, failed and skipped, for people; expected failures are among the skipped."""
        counts = Counter(self.tests.values())
        failed = len(self.tests) - counts["passed"] - counts["skipped"]
        return f"{counts['passed']} / {failed} / {counts['skipped']}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Run test suites of real projects before and after a migration, and compare test by test."
    )
    parser.add_argument("destination", type=Path, metavar="DEST", help="scratch folder outside this repository")
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects of suites.py (default: all)")
    parser.add_argument("--unsafe-fixes", action="store_true", help="also migrate with the unsafe fixes, and compare")
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    parser.add_argument("--json", type=Path, help="write every outcome to this file")
    options = parser.parse_args()

    destination: Path = options.destination.resolve()
    if destination.is_relative_to(Path(__file__).resolve().parents[1]):
        raise SystemExit(f"{destination} lies in this repository. Choose a folder outside: fetched code is not ours.")
    suites = chosen(options.names)
    sources = [source(suite, destination) for suite in suites]
    modes = ["safe", "unsafe"] if options.unsafe_fixes else ["safe"]

    results: list[dict[str, Any]] = []
    print(
        "| project | fixes | before: passed / failed / skipped | after | tests that changed | sites changed "
        "| files changed | of these imported by the tests | torchlift says |\n|---|---|--:|--:|---|--:|--:|--:|---|",
        flush=True,
    )
    for suite, folder in zip(suites, sources, strict=True):
        with tempfile.TemporaryDirectory(prefix="torchlift-suite-") as scratch:
            python = environment(suite, destination / "venvs" / suite.name)
            for result in run_project(options.torchlift, suite, folder, python, Path(scratch), modes):
                results.append(result)
                print(table_row(result), flush=True)
                if options.json:
                    options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for result in results:
        for test, (before, after) in result["changed"].items():
            print(f"{result['project']}, {result['mode']}: {test}: {before} -> {after}")
    if any(result["lost"] for result in results if result["mode"] == "safe"):
        raise SystemExit(1)


def source(suite: Suite, destination: Path) -> Path:
    """The folder that holds the sources: a git clone, bare or not, or an unpacked source archive.

    Raises:
        SystemExit: it is missing and cannot be fetched, or it is not what `suites.py` pins.
    """
    folder = destination / suite.folder
    if not folder.is_dir():
        print(f"{suite.folder}: fetching", file=sys.stderr, flush=True)
        destination.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=destination) as scratch:
            try:
                fetch(suite, Path(scratch)).rename(folder)
            except FetchError as error:
                raise SystemExit(f"{suite.folder}: {error}") from error
    if suite.repository:
        try:
            git(folder, "cat-file", "-e", f"{suite.version}^{{commit}}")
        except RuntimeError as error:
            raise SystemExit(f"{folder} is no clone that has the commit {suite.version}: {error}") from error
    return folder


def fetch(suite: Suite, scratch: Path) -> Path:
    """Fetch the sources into `scratch` and return the folder that holds them.

    Raises:
        FetchError: they cannot be had, or are not what is pinned.
    """
    if suite.repository:
        return clone_from_github(corpus.repository(suite.repository, suite.version), scratch)
    (project,) = corpus.chosen([suite.name])
    if project.version != suite.version:
        raise FetchError(f"corpus.py pins version {project.version}, suites.py {suite.version}. Make them agree.")
    with tarfile.open(download(project, scratch)) as tar:
        tar.extractall(scratch / "unpacked", filter="data")
    (top,) = (scratch / "unpacked").iterdir()
    return top


def environment(suite: Suite, folder: Path) -> Path:
    """The interpreter of an environment with all that `suite` needs; the environment is made when it is missing.

    Raises:
        SystemExit: it cannot be made.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print(f"{suite.name}: installing {', '.join(suite.requirements)} in {folder}", file=sys.stderr, flush=True)
        for command in (
            [sys.executable, "-m", "venv", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *suite.requirements],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                raise SystemExit(f"{folder} cannot be made: {done.stderr.strip()[-2000:]}")
    return python


def run_project(
    program: str, suite: Suite, folder: Path, python: Path, scratch: Path, modes: list[str]
) -> list[dict[str, Any]]:
    """Test, migrate and test again, once for each of `modes`; one plain record for each.

    Raises:
        SystemExit: the suite does not run on the original code, or torchlift failed.
    """
    repository = scratch / suite.folder
    if suite.repository:
        # The pinned commit, whatever the clone has checked out or lacks of its history.
        repository.mkdir()
        git(repository, "init", "--quiet")
        objects = git(folder, "rev-parse", "--path-format=absolute", "--git-path", "objects")
        (repository / ".git/objects/info/alternates").write_bytes(objects)
        git(repository, "checkout", "--quiet", "--detach", suite.version)
    else:
        as_repository(folder, repository)
    start = snapshot(repository)
    before = run_suite(suite, repository, python, scratch)
    if before.code not in (0, 1) and "passed" not in before.tests.values():
        raise SystemExit(f"{suite.name}: pytest ended with exit code {before.code} before any change.\n{before.log}")
    restore(repository, start)

    results = []
    for mode in modes:
        run = migrate(program, repository, *MODES[mode], "--output-format", "json")
        if run.sample.code not in (0, 1):
            raise SystemExit(f"torchlift failed on {suite.name} (exit code {run.sample.code}): {run.stderr.strip()}")
        touched = changed(start, snapshot(repository))
        after = run_suite(suite, repository, python, scratch)
        restore(repository, start)
        different = {
            test: (before.tests.get(test, "not there"), after.tests.get(test, "not there"))
            for test in sorted(before.tests.keys() | after.tests.keys())
            if before.tests.get(test) != after.tests.get(test)
        }
        results.append(
            {
                "project": suite.folder,
                "mode": mode,
                "before": before.counts,
                "after": after.counts,
                "seconds": [before.wall, after.wall],
                "changed": different,
                "lost": [test for test, outcomes in different.items() if outcomes[0] == "passed"],
                "sites": run.report["summary"]["fixed"],
                "files": touched,
                "imported": sorted(after.loaded.intersection(touched)),
                "summary": run.stderr.strip(),
                "tests": before.tests,
            }
        )
    return results


def run_suite(suite: Suite, repository: Path, python: Path, scratch: Path) -> Outcomes:
    """Run the tests of `suite` in `repository`.

    Raises:
        SystemExit: pytest wrote no report.
    """
    beside, report, loaded = scratch / "beside", scratch / "report.xml", scratch / "loaded.txt"
    for name, text in {**suite.stand_ins, f"{WATCHER}.py": WATCHER_SOURCE}.items():
        (beside / name).parent.mkdir(parents=True, exist_ok=True)
        (beside / name).write_text(text, encoding="utf-8")
    empty = Path(tempfile.mkdtemp(prefix="data-", dir=scratch))
    variables = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    variables |= {name: text.format(scratch=empty) for name, text in suite.environment.items()}
    variables |= {
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(beside),
        "SUITE_RUN_LOADED": str(loaded),
    }
    for path in (report, loaded):
        path.unlink(missing_ok=True)
    command = [str(python), "-m", "pytest", "-p", WATCHER, "-p", "no:cacheprovider", "--color=no"]
    command += ["--continue-on-collection-errors", f"--junit-xml={report}", *suite.tests]
    done = subprocess.run(command, cwd=repository, env=variables, capture_output=True, check=False)
    log = (done.stdout + done.stderr).decode(errors="replace")[-4000:]
    if not report.exists():
        raise SystemExit(f"{suite.name}: pytest wrote no report (exit code {done.returncode}).\n{log}")
    root = ElementTree.parse(report).getroot()
    tests: dict[str, str] = {}
    for case in root.iter("testcase"):
        test = f"{case.get('classname')}::{case.get('name')}"
        # A test whose teardown fails comes a second time.
        if tests.get(test, "passed") == "passed":
            tests[test] = outcome(case)
    files = loaded.read_text(encoding="utf-8").splitlines() if loaded.exists() else []
    return Outcomes(
        tests=tests,
        loaded=frozenset(
            Path(file).relative_to(repository).as_posix() for file in files if Path(file).is_relative_to(repository)
        ),
        code=done.returncode,
        wall=sum(float(found.get("time", 0)) for found in root.iter("testsuite")),
        log=log,
    )


def outcome(case: ElementTree.Element) -> str:
    """How one test ended; a failure says which exception or what else it was."""
    for kind in ("error", "failure", "skipped"):
        found = case.find(kind)
        if found is not None:
            if kind == "skipped":
                return kind
            exception = re.match(r"[\w.]+(?=:|$)", found.get("message", ""))
            return f"{kind}: {exception[0] if exception else 'assertion'}"
    return "passed"


def restore(repository: Path, start: dict[str, tuple[str, int]]) -> None:
    """Put every file back as it was committed.

    Raises:
        RuntimeError: it did not work.
    """
    git(repository, "reset", "--quiet", "--hard")
    git(repository, "clean", "--quiet", "-d", "-x", "--force", "--force")
    if changed(start, snapshot(repository)):
        raise RuntimeError(f"{repository.name}: the scratch copy could not be put back")


def table_row(result: dict[str, Any]) -> str:
    """One Markdown row; the tests that changed are listed in full after the table when there are many."""
    tests = [f"`{test}`" for test in result["changed"]]
    named = ", ".join(tests[:5]) + (f" and {len(tests) - 5} more" if len(tests) > 5 else "")
    return (
        f"| {result['project']} | {result['mode']} | {result['before']} | {result['after']} | {named or 'none'} "
        f"| {result['sites']} | {len(result['files'])} | {len(result['imported'])} | {' '.join(result['summary'].split())} |"
    )


if __name__ == "__main__":
    main()
