"""How far projects leave TorchScript: `python bench/leaving.py FOLDER ... [--options "--torchscript drop"]`.

Each folder is copied into a fresh git repository and never written to. The rules of TorchScript alone run there: first
as a report, then in place, once with the safe fixes and once with `--unsafe-fixes`, each time with the given options. What
is left is counted by a run without them, so that an answer of the user counts only by what it changed in the code.

Roots are the findings that make, run or write TorchScript; hints are those that speak to its compiler. Exit code 1 when
a run failed: torchlift stopped, left a file out, changed a file so that it no longer parses, or changes something
when the same command runs a second time.

The projects it was measured on stand in `leaving.tsv`; the half "held" was not looked at before the rules were done.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from changes import damage
from corpus_run import MODES, complaints, read_report
from jit_sites import reason
from scratch import as_repository, changed, git, snapshot
from torchlift_command import DEFAULT, migrate

RULES = ("--select", "TL1")
_ROOT = re.compile(r"TL(?:10[1-7]|13[0-8])$")
_HINT = re.compile(r"TL1(?:1\d|2[01])$")


@dataclass
class Kind:
    """Findings of one kind, roots or hints, counted.

    Attributes:
        before: in the project as it is.
        told: of a report with the options, before anything is changed.
        safe: left after the safe fixes.
        all: left after these and those for review.
    """

    before: int = 0
    told: int = 0
    safe: int = 0
    all: int = 0

    def __add__(self, other: Kind) -> Kind:
        return Kind(self.before + other.before, self.told + other.told, self.safe + other.safe, self.all + other.all)


@dataclass
class Effort:
    """What one mode did: findings it says it fixed, changed files, lines that came and went."""

    fixed: int = 0
    files: int = 0
    added: int = 0
    removed: int = 0

    def __add__(self, other: Effort) -> Effort:
        return Effort(
            self.fixed + other.fixed,
            self.files + other.files,
            self.added + other.added,
            self.removed + other.removed,
        )


@dataclass
class Result:
    """One project.

    Attributes:
        name: the folder's.
        roots: findings that make, run or write TorchScript.
        hints: findings that speak to its compiler.
        efforts: by mode.
        left: what is left after each mode: `(code, reason)` and how often.
        problems: sentences about what went wrong.
    """

    name: str
    roots: Kind
    hints: Kind
    efforts: dict[str, Effort]
    left: dict[str, Counter[tuple[str, str]]]
    problems: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description="How far projects leave TorchScript.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="sources of a project")
    parser.add_argument("--options", default="", help='for torchlift migrate, as one argument: "--torchscript drop"')
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    parser.add_argument("--list", action="store_true", help="list what is left, by rule and reason")
    parser.add_argument("--json", type=Path, help="write what was counted to this file")
    options = parser.parse_args()

    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="torchlift-leaving-") as scratch:
        for folder in options.folders:
            result = leave(options.torchlift, folder.resolve(), Path(scratch), shlex.split(options.options))
            results.append(result)
            print(f"{result.name}: {len(result.problems)} problem(s)", file=sys.stderr, flush=True)
    print(table(results))
    if options.list:
        print(left(results))
    problems = [f"- {result.name}: {problem}" for result in results for problem in result.problems]
    if options.json:
        options.json.write_text(json.dumps([plain(result) for result in results], indent=1) + "\n", encoding="utf-8")
    if problems:
        print("\n".join(["", "Problems:", "", *problems]))
        raise SystemExit(1)


def leave(program: str, folder: Path, scratch: Path, options: list[str]) -> Result:
    """Count, migrate in both modes, and count again."""
    if not folder.is_dir():
        raise SystemExit(f"{folder} is no folder.")
    repository = as_repository(folder, scratch / folder.name)
    problems: list[str] = []
    before = look(program, repository, [], problems)
    told = look(program, repository, options, problems)
    efforts: dict[str, Effort] = {}
    left: dict[str, list[dict[str, Any]]] = {}
    start = snapshot(repository)
    for mode, flags in MODES.items():
        run = migrate(program, repository, *RULES, *options, *flags, "--output-format", "json")
        report = checked(mode, run, problems)
        efforts[mode] = effort(repository, folder, start, report, problems)
        problems += again(program, repository, [*options, *flags])
        left[mode] = look(program, repository, [], problems)
        git(repository, "reset", "--quiet", "--hard")
        git(repository, "clean", "--quiet", "-d", "-x", "--force")
        if changed(start, snapshot(repository)):
            raise RuntimeError(f"{folder.name}: the scratch copy could not be put back")
    after = [before, told, left["safe"], left["unsafe"]]
    return Result(
        folder.name,
        Kind(*(count(_ROOT, findings) for findings in after)),
        Kind(*(count(_HINT, findings) for findings in after)),
        efforts,
        {mode: Counter((finding["code"], reason(finding)) for finding in findings) for mode, findings in left.items()},
        problems,
    )


def look(program: str, repository: Path, options: list[str], problems: list[str]) -> list[dict[str, Any]]:
    """The findings of a report."""
    run = migrate(program, repository, "--check", *RULES, *options, "--output-format", "json")
    findings: list[dict[str, Any]] = checked("--check", run, problems)["findings"]
    return findings


def checked(what: str, run: Any, problems: list[str]) -> dict[str, Any]:
    """The report of a run; what went wrong in it is added to `problems`."""
    problems += complaints(what, run)
    report = read_report(what, run, problems)
    problems += [f"{what}: {failure['path']}: {failure['reason']}" for failure in report["failures"]]
    problems += [f"{what}: {refused['path']} was refused: {refused['reason']}" for refused in report["refused"]]
    return report


def effort(
    repository: Path, original: Path, start: dict[str, tuple[str, int]], report: dict[str, Any], problems: list[str]
) -> Effort:
    """What a run changed, found by comparing with the original."""
    paths = changed(start, snapshot(repository))
    for path in paths:
        new = repository / path
        if new.exists():
            problems += [
                f"{path}: {sentence}" for sentence in damage(path, (original / path).read_bytes(), new.read_bytes())
            ]
    added, removed = 0, 0
    for line in git(repository, "diff", "--numstat", "--no-renames", "HEAD").decode().splitlines():
        plus, minus, _ = line.split("\t", 2)
        if plus != "-":
            added, removed = added + int(plus), removed + int(minus)
    return Effort(report["summary"].get("fixed", 0), len(paths), added, removed)


def again(program: str, repository: Path, options: list[str]) -> list[str]:
    """A second run of the same command must change nothing: sentences about each file that it does change."""
    first = snapshot(repository)
    run = migrate(program, repository, *RULES, *options, "--allow-dirty")
    paths = changed(first, snapshot(repository))
    return [*complaints("again", run), *(f"{path}: a second run changes it again" for path in paths)]


def count(kind: re.Pattern[str], findings: Iterable[dict[str, Any]]) -> int:
    return sum(bool(kind.match(finding["code"])) for finding in findings)


def table(results: list[Result]) -> str:
    """Markdown for people."""
    lines = [
        "| project | roots | told | left, safe | left, all | hints | told | left, safe | left, all "
        "| fixed, safe | files | lines | fixed, all | files | lines | problems |",
        "|---|" + "--:|" * 15,
    ]
    rows = [(result.name, result.roots, result.hints, result.efforts, len(result.problems)) for result in results]
    roots, hints = (sum((row[index] for row in rows), Kind()) for index in (1, 2))
    efforts = {mode: sum((row[3][mode] for row in rows), Effort()) for mode in MODES}
    rows.append((f"**{len(results)} projects**", roots, hints, efforts, sum(row[4] for row in rows)))
    for name, roots, hints, efforts, problems in rows:
        cells = [name, *cells_of(roots), *cells_of(hints)]
        for done in efforts.values():
            cells += [str(done.fixed), str(done.files), f"+{done.added} -{done.removed}"]
        lines.append(f"| {' | '.join([*cells, str(problems)])} |")
    return "\n".join(lines)


def cells_of(kind: Kind) -> list[str]:
    return [str(kind.before), str(kind.told), share(kind.safe, kind.before), share(kind.all, kind.before)]


def share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else str(part)


def left(results: list[Result]) -> str:
    """What is left in all projects, by rule and reason, the most frequent first."""
    safe, everything = (sum((result.left[mode] for result in results), Counter()) for mode in MODES)
    lines = ["", "| rule | reason | left, safe | left, all |", "|---|---|--:|--:|"]
    for key in sorted(safe | everything, key=lambda key: (-everything[key], -safe[key], key)):
        lines.append(f"| {key[0]} | {key[1]} | {safe[key]} | {everything[key]} |")
    return "\n".join(lines)


def plain(result: Result) -> dict[str, Any]:
    """The result as JSON has it."""
    data = asdict(result)
    data["left"] = {
        mode: [{"code": code, "reason": text, "count": number} for (code, text), number in counts.most_common()]
        for mode, counts in result.left.items()
    }
    return data


if __name__ == "__main__":
    main()
