"""The verdict, and the counts per rule."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from torchlift.finding import FileFailure, Finding, Fix, Safety
from torchlift.migrate.result import FileOutcome, Mode, RunResult
from torchlift.migrate.tell.report.statistics import render as statistics
from torchlift.migrate.tell.report.summary import summary
from torchlift.source import SourceText, Span
from torchlift.versions import TorchVersion

SAFE, UNSAFE, MANUAL = Safety.SAFE, Safety.UNSAFE, Safety.MANUAL


def run(*outcomes: FileOutcome, mode: Mode = Mode.WRITE, **more: Any) -> RunResult:
    values: dict[str, Any] = {
        "unsafe_fixes": False,
        "target": TorchVersion(2, 15),
        "min_torch": TorchVersion(2, 15),
        "min_torch_source": "pyproject.toml:3",
        "files_seen": 120,
        "files_analysed": 3,
    }
    return RunResult(mode=mode, outcomes=outcomes, **{**values, **more})


def findings(path: str, *kinds: tuple[str, Safety]) -> tuple[Finding, ...]:
    return tuple(
        Finding(code, path, Span(at, at + 1), "Gone.", fix=None if kind is MANUAL else Fix("Export", kind, ()))
        for at, (code, kind) in enumerate(kinds)
    )


def outcome(
    path: str,
    fixed: tuple[tuple[str, Safety], ...] = (),
    left: tuple[tuple[str, Safety], ...] = (),
    refused: str | None = None,
) -> FileOutcome:
    return FileOutcome(
        path,
        SourceText("x = 1\n" * 20),
        left=findings(path, *left),
        fixed=findings(path, *fixed),
        new_text="y = 1\n" * 20 if fixed else None,
        refused=refused,
    )


TRACE, LOAD, SCRIPT = ("TL101", SAFE), ("TL103", UNSAFE), ("TL102", MANUAL)


def told(result: RunResult) -> str:
    return summary(result, root=Path.cwd())


@pytest.mark.parametrize(
    ("mode", "outcomes", "verdict"),
    [
        (Mode.WRITE, (), "Nothing to migrate in 120 files (target: torch 2.15)."),
        (Mode.CHECK, (), "Nothing to migrate in 120 files (target: torch 2.15)."),
        (Mode.WRITE, (outcome("a.py", fixed=(TRACE,)),), "Fixed 1 finding in 1 file. Nothing is left."),
        (
            Mode.WRITE,
            (outcome("a.py", (TRACE,) * 5, (LOAD, SCRIPT)), outcome("b.py", (TRACE,) * 2, (LOAD, SCRIPT))),
            "Fixed 7 findings in 2 files. 4 left: 2 need review (`--unsafe-fixes --diff` shows the changes), "
            "2 are manual (`torchlift rule TL102` explains).",
        ),
        (
            Mode.WRITE,
            (outcome("a.py", (TRACE,), (LOAD,)),),
            "Fixed 1 finding in 1 file. 1 left: it needs review (`--unsafe-fixes --diff` shows the change).",
        ),
        (
            Mode.WRITE,
            (outcome("a.py", left=(SCRIPT,)),),
            "1 finding in 1 file, nothing fixed: it is manual (`torchlift rule TL102` explains).",
        ),
        (
            Mode.WRITE,
            (outcome("a.py", left=(SCRIPT, ("TL111", MANUAL), LOAD)),),
            "3 findings in 1 file, nothing fixed: 1 needs review (`--unsafe-fixes --diff` shows the change), "
            "2 are manual (`torchlift rule CODE` explains TL102, TL111).",
        ),
        (
            Mode.CHECK,
            (outcome("a.py", left=tuple((f"TL{n}", MANUAL) for n in range(101, 107))),),
            "6 findings in 1 file: all are manual (`torchlift rule CODE` explains TL101, TL102, TL103 and 3 more).",
        ),
        (
            Mode.DIFF,
            (outcome("a.py", fixed=(TRACE, TRACE)),),
            "Would fix 2 findings in 1 file (run without `--diff` to apply). Nothing would be left.",
        ),
        (
            Mode.DIFF,
            (outcome("a.py", (TRACE,), (LOAD, LOAD)),),
            "Would fix 1 finding in 1 file (run without `--diff` to apply). "
            "2 would be left: all need review (`--unsafe-fixes` shows the changes).",
        ),
        (
            Mode.DIFF,
            (outcome("a.py", left=(LOAD,)),),
            "1 finding in 1 file, nothing fixed: it needs review (`--unsafe-fixes` shows the change).",
        ),
        (
            Mode.CHECK,
            (outcome("a.py", left=(TRACE, TRACE, LOAD)), outcome("b.py", left=(SCRIPT,))),
            "4 findings in 2 files: 2 can be fixed (run without `--check` to apply), "
            "1 needs review (`--unsafe-fixes --diff` shows the change), "
            "1 is manual (`torchlift rule TL102` explains).",
        ),
        (
            Mode.CHECK,
            (outcome("a.py", left=(TRACE,)),),
            "1 finding in 1 file: it can be fixed (run without `--check` to apply).",
        ),
    ],
)
def test_the_verdict_comes_first(mode: Mode, outcomes: tuple[FileOutcome, ...], verdict: str) -> None:
    assert told(run(*outcomes, mode=mode)) == f"{verdict}\n"


def test_with_unsafe_fixes_nothing_asks_for_unsafe_fixes() -> None:
    assert told(run(outcome("a.py", left=(TRACE, LOAD)), mode=Mode.CHECK, unsafe_fixes=True)) == (
        "2 findings in 1 file: 1 can be fixed (run without `--check` to apply), "
        "1 needs review (run without `--check` to apply).\n"
    )


def test_no_files_are_no_success_story() -> None:
    assert told(run(files_seen=0, files_analysed=0)) == "No Python files found.\n"


def test_refused_files_are_named_with_the_reason_and_the_flag() -> None:
    reason = "It has uncommitted changes; `--allow-dirty` writes it all the same."
    assert told(run(outcome("a.py", left=(TRACE, TRACE), refused=reason), outcome("b.py", (TRACE,)))) == (
        "Fixed 1 finding in 1 file. 2 left: all could be fixed but were not.\n"
        "Not written:\n"
        "  a.py: It has uncommitted changes; `--allow-dirty` writes it all the same.\n"
    )


def test_fixes_that_could_not_be_written_count_as_left() -> None:
    assert told(run(outcome("a.py", fixed=(TRACE,), refused="The disk is full."))) == (
        "1 finding in 1 file, nothing fixed: it could be fixed but was not.\nNot written:\n  a.py: The disk is full.\n"
    )


def test_many_refused_files_are_not_all_named() -> None:
    refused = [outcome(f"{number:02}.py", left=(TRACE,), refused="It is dirty.") for number in range(12)]
    lines = told(run(*refused)).splitlines()
    assert lines[1:] == [
        "Not written:",
        *(f"  {number:02}.py: It is dirty." for number in range(5)),
        "  and 7 more files for the same reason",
    ]


def test_five_refused_files_are_all_named() -> None:
    refused = [outcome(f"{number}.py", left=(TRACE,), refused="It is dirty.") for number in range(5)]
    assert told(run(*refused)).splitlines()[-1] == "  4.py: It is dirty."


def test_failures_are_listed_and_our_own_are_called_so() -> None:
    ours = FileFailure("a.py", "verify", "The file was left as it was.", ours=True)
    theirs = FileFailure("b.py", "read", "It cannot be read.")
    refused = outcome("a.py", left=(TRACE,), refused="could not be rewritten correctly")
    assert told(run(refused, failures=(ours, theirs))) == (
        "1 finding in 1 file, nothing fixed: it could be fixed but was not.\n"
        "2 failures:\n"
        "  a.py: verify: The file was left as it was.\n"
        "  b.py: read: It cannot be read.\n"
        "1 of them is a defect of torchlift and not of your code; please report it.\n"
    )
    assert told(run(failures=(ours,))).splitlines()[0] == "Nothing found to migrate, but not everything could be done."
    assert told(run(failures=(ours,))).splitlines()[1] == "1 failure:"
    assert told(run(failures=(ours,))).splitlines()[-1].startswith("This is a defect of torchlift ")
    assert told(run(failures=(ours, ours))).splitlines()[-1].startswith("They are defects of torchlift ")
    assert told(run(failures=(ours, ours, theirs))).splitlines()[-1].startswith("2 of them are defects of torchlift ")
    assert "defect" not in told(run(failures=(theirs,)))


def test_many_failures_are_not_all_named() -> None:
    failures = tuple(FileFailure(f"{number:02}.py", "read", "It cannot be read.") for number in range(30))
    lines = told(run(failures=failures)).splitlines()
    assert len(lines) == 13
    assert lines[-1] == "  and 20 more (`--output-format json` lists all)"


def test_suppressed_findings_and_notes_are_mentioned() -> None:
    assert told(run(suppressed=1, notes=("One.", "Two."))).splitlines()[1:] == [
        "1 finding is suppressed by comments.",
        "One.",
        "Two.",
    ]
    assert told(run(suppressed=3)).splitlines()[1:] == ["3 findings are suppressed by comments."]


def test_the_verdict_is_coloured_by_its_outcome() -> None:
    def verdict(result: RunResult) -> str:
        return summary(result, root=Path.cwd(), color=True).splitlines()[0]

    good = run(outcome("a.py", fixed=(TRACE,)))
    pending = run(outcome("a.py", left=(LOAD,)))
    bad = run(failures=(FileFailure("a.py", "read", "It cannot be read."),))
    assert [verdict(result)[:5] for result in (good, pending, bad)] == ["\x1b[32m", "\x1b[33m", "\x1b[31m"]
    assert re.sub(r"\x1b\[[0-9;]*m", "", summary(pending, root=Path.cwd(), color=True)) == told(pending)


NAMES = {"TL101": "torchscript-trace", "TL102": "torchscript-script", "TL103": "torchscript-load"}


def test_statistics_count_what_is_left_by_rule_most_frequent_first() -> None:
    result = run(
        outcome("a.py", left=(TRACE,) * 12 + (LOAD, LOAD)),
        outcome("b.py", left=(SCRIPT, ("TL103", SAFE), ("TL999", MANUAL))),
        mode=Mode.CHECK,
    )
    assert (
        statistics(result, "full", names=NAMES)
        == """\
12  TL101  [*] torchscript-trace
 3  TL103  [-] torchscript-load
 1  TL102  [ ] torchscript-script
 1  TL999  [ ]
"""
    )


def test_statistics_tell_fixed_findings_from_those_left() -> None:
    outcomes = (outcome("a.py", fixed=(TRACE, TRACE), left=(SCRIPT,)), outcome("b.py", fixed=(("TL102", SAFE),)))
    assert statistics(run(*outcomes), "concise", names=NAMES) == (
        "1  TL102  [ ] torchscript-script (1 fixed)\n0  TL101  [ ] torchscript-trace (2 fixed)\n"
    )
    assert "(2 to be fixed)" in statistics(run(*outcomes, mode=Mode.DIFF), "full", names=NAMES)


def test_statistics_as_json_have_the_keys_of_ruff() -> None:
    result = run(outcome("a.py", left=(TRACE, LOAD, LOAD)), mode=Mode.CHECK)
    assert json.loads(statistics(result, "json", names=NAMES)) == [
        {
            "code": "TL103",
            "name": "torchscript-load",
            "count": 2,
            "fixable": False,
            "fixable_count": 0,
            "fixed_count": 0,
        },
        {
            "code": "TL101",
            "name": "torchscript-trace",
            "count": 1,
            "fixable": True,
            "fixable_count": 1,
            "fixed_count": 0,
        },
    ]


def test_statistics_of_nothing_are_empty() -> None:
    assert statistics(run(), "full", names={}) == ""
    assert statistics(run(), "json", names={}) == "[]\n"


def test_statistics_in_colour_have_the_same_text() -> None:
    result = run(outcome("a.py", left=(TRACE, LOAD)), mode=Mode.CHECK)
    colored = statistics(result, "full", names=NAMES, color=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == statistics(result, "full", names=NAMES)
