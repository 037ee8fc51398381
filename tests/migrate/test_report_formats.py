"""Reports for other programs, read by libraries that are not ours, or as their readers document them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from annotations import annotations
from commands import told
from published_formats import gitlab, junit, rdjson
from sarif_pydantic import Sarif

from torchlift.finding import (
    Elsewhere,
    FileFailure,
    Finding,
    Fix,
    Group,
    ReplaceExpression,
    Safety,
    Severity,
    Template,
    TextEdit,
)
from torchlift.migrate.output_formats import OUTPUT_FORMATS, OutputFormat
from torchlift.migrate.result import FileOutcome, Mode, RunResult
from torchlift.migrate.tell.identity import identities
from torchlift.migrate.tell.report import render
from torchlift.source import SourceText, Span
from torchlift.versions import TorchVersion

ROOT = Path(__file__).parents[2]
TEXT = "import torch\r\nm = 'é👍', torch.jit.trace(\r\n    net, x\r\n)\r\n"
CALL = Span(TEXT.index("torch.jit"), TEXT.index(")") + 1)
HOSTILE = "odd % text\r\n::error::no | <b>&`x`</b> ]]> \x00\x1b[31m \ud800 @team #1"
PATH = "a,b:c%/d\n::e <&>.py"


def found(severity: Severity = Severity.ERROR, fix: Fix | None = None, **more: Any) -> Finding:
    values: dict[str, Any] = {"code": "TL101", "path": "a b/é.py", "message": "Gone: `x | y`.", "help": "Look."}
    return Finding(span=CALL, severity=severity, fix=fix, **{**values, **more})


def result(*findings: Finding, edits: tuple[TextEdit, ...] = (), **more: Any) -> RunResult:
    by_path = {finding.path: [f for f in findings if f.path == finding.path] for finding in findings}
    outcomes = tuple(
        FileOutcome(path, SourceText(TEXT), tuple(listed), edits=(edits,) * len(listed) if edits else ())
        for path, listed in sorted(by_path.items())
    )
    version = TorchVersion(2, 15)
    return RunResult(Mode.CHECK, False, version, version, None, 9, 3, outcomes, **more)


def shown(of: RunResult, output_format: OutputFormat) -> str:
    return render(of, output_format, root=Path.cwd(), names={"TL101": "trace"}, urls={"TL101": "https://e.org/x"})


def sarif(of: RunResult) -> dict[str, Any]:
    text = shown(of, "sarif")
    Sarif.model_validate_json(text)
    run: dict[str, Any] = json.loads(text)["runs"][0]
    return run


FAILED = {"failures": (FileFailure("b.py", "parse", "It is no Python."),)}


def test_sarif_names_place_level_rule_and_identity() -> None:
    run = sarif(result(found(), found(Severity.INFO, code="TL999")))
    first, second = run["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b/%C3%A9.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 2, "startColumn": 11, "endLine": 4, "endColumn": 2},
    }
    assert (first["level"], second["level"]) == ("error", "note")
    assert [run["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] for r in run["results"]] == ["TL101", "TL999"]
    rule = run["tool"]["driver"]["rules"][0]
    assert "torch.export" in rule["help"]["markdown"] and rule["fullDescription"]["text"].endswith(".")
    assert first["partialFingerprints"] != second["partialFingerprints"]


def test_sarif_says_what_could_not_be_done() -> None:
    run = sarif(result(found(), **FAILED))
    assert run["invocations"][0]["executionSuccessful"] is False
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == "parse: It is no Python."
    assert sarif(result())["invocations"][0]["executionSuccessful"] is True


def applied(text: str, edits: list[tuple[tuple[int, int], tuple[int, int], str]], width: Callable[[str], int]) -> str:
    """`text` after edits from row and column to row and column; `width` is what a sign counts in a column."""
    lines = re.split(r"(?<=\n)", text)

    def offset(row: int, column: int) -> int:
        line, at = lines[row - 1], 0
        while column > 1:
            column -= width(line[at])
            at += 1
        return sum(map(len, lines[: row - 1])) + at

    for start, end, new in sorted(edits, reverse=True):
        text = text[: offset(*start)] + new + text[offset(*end) :]
    return text


EDITS = (
    TextEdit(Span(CALL.start, CALL.start + 15), "torch.export.export"),
    TextEdit(Span(CALL.end - 1, CALL.end), ", strict=False)"),
)
AFTER = "import torch\r\nm = 'é👍', torch.export.export(\r\n    net, x\r\n, strict=False)\r\n"
EXPORT = Fix("Export it", Safety.UNSAFE, ())


def test_the_fix_in_sarif_gives_the_text_that_torchlift_would_write() -> None:
    fix = sarif(result(found(fix=EXPORT), edits=EDITS))["results"][0]["fixes"][0]
    assert fix["description"]["text"] == "Export it (needs review)"
    regions = [
        (
            (r["deletedRegion"]["startLine"], r["deletedRegion"]["startColumn"]),
            (r["deletedRegion"]["endLine"], r["deletedRegion"]["endColumn"]),
            r["insertedContent"]["text"],
        )
        for r in fix["artifactChanges"][0]["replacements"]
    ]
    assert applied(TEXT, regions, lambda sign: 1) == AFTER


def test_the_fix_in_rdjson_is_one_suggestion_in_columns_of_bytes() -> None:
    [diagnostic] = rdjson(shown(result(found(fix=EXPORT), edits=EDITS), "rdjson"))
    [suggestion] = diagnostic["suggestions"]
    start, end = suggestion["range"]["start"], suggestion["range"]["end"]
    edit = ((start["line"], start["column"]), (end["line"], end["column"]), suggestion["text"])
    assert applied(TEXT, [edit], lambda sign: len(sign.encode())) == AFTER
    assert diagnostic["severity"] == "ERROR" and diagnostic["code"] == {"value": "TL101", "url": "https://e.org/x"}


@pytest.mark.parametrize(
    "more",
    [
        {"groups": (Group("the artifact", ("a b/é.py", "serve.py"), sites=2),)},
        {"fix": Fix("E", Safety.SAFE, (), elsewhere=(Elsewhere("s.py", ReplaceExpression(CALL, Template("x"))),))},
    ],
)
def test_half_a_fix_is_not_offered(more: dict[str, Any]) -> None:
    of = result(found(**{"fix": EXPORT, **more}), edits=EDITS)
    assert "fixes" not in sarif(of)["results"][0]
    assert "suggestions" not in rdjson(shown(of, "rdjson"))[0]


def test_github_shows_annotations_and_those_that_wait_last() -> None:
    one = Finding("TL102", "a.py", Span(0, 6), "One line.")
    listed = annotations(shown(result(found(waits_for="a.py:1"), one, **FAILED), "github"))
    assert [level for level, _, _ in listed] == ["error", "warning", "error"]
    assert listed[0][1] == {"title": "torchlift", "file": "b.py"}
    assert listed[1][1] == {
        "title": "TL102 TL102",
        "file": "a.py",
        "line": "1",
        "endLine": "1",
        "col": "1",
        "endColumn": "7",
    }
    assert "col" not in listed[2][1] and listed[2][1]["endLine"] == "4"


def test_gitlab_gets_unique_fingerprints_that_do_not_know_the_line() -> None:
    issues = gitlab(shown(result(found(), found(message="Other."), **FAILED), "gitlab"))
    assert len(issues) == 3
    assert {issue["severity"] for issue in issues} == {"blocker", "major"}
    assert gitlab(shown(result(), "gitlab")) == []


def test_junit_has_a_failed_case_for_each_finding_and_one_that_passes_where_there_is_none() -> None:
    suites = junit(shown(result(found(), found(path="c.py"), **FAILED), "junit"))
    assert (suites.tests, suites.failures, suites.errors) == (3, 2, 1)
    assert [suite.name for suite in suites] == ["torchlift", "a b/é.py", "c.py"]
    nothing = junit(shown(result(), "junit"))
    assert (nothing.tests, nothing.failures) == (1, 0) and next(iter(next(iter(nothing)))).is_passed


def test_cases_of_junit_keep_their_names_when_lines_move() -> None:
    def names(text: str) -> list[str]:
        places = [match.start() for match in re.finditer("torch.ger", text)]
        listed = tuple(Finding("TL401", "a.py", Span(at, at + 9), "Old.") for at in places)
        outcome = FileOutcome("a.py", SourceText(text), listed)
        version = TorchVersion(2, 15)
        run = RunResult(Mode.CHECK, False, version, version, None, 9, 3, (outcome,))
        return [case.name for suite in junit(shown(run, "junit")) for case in suite]

    before = names("x = torch.ger(a, b)\ny = torch.ger(a, b)\nx = torch.ger(a, b)\n")
    assert before == [
        "TL401 TL401: x = torch.ger(a, b)",
        "TL401 TL401: y = torch.ger(a, b)",
        "TL401 TL401: x = torch.ger(a, b) (2)",
    ]
    assert names("if z:\n    x = torch.ger(a, b)\n\n    y  = torch.ger(a, b)\nx = torch.ger(a, b)\n") == before


def test_markdown_counts_rules_and_folds_files() -> None:
    page = shown(result(found(), found(fix=EXPORT), **FAILED), "markdown")
    assert "| [TL101](<https://e.org/x>) | trace | 2 | 1 needs review, 1 by hand |" in page
    assert "- line 2, **TL101** Gone: `x | y`." in page
    assert "`b.py`: parse: It is no Python." in page


@pytest.mark.parametrize("output_format", [name for name in OUTPUT_FORMATS if name not in {"full", "concise"}])
def test_no_text_or_name_of_the_project_breaks_a_format(output_format: OutputFormat) -> None:
    fix = Fix(HOSTILE, Safety.SAFE, ())
    text = shown(result(found(message=HOSTILE, help=HOSTILE, path=PATH, fix=fix), **FAILED), output_format)
    assert "\x00" not in text and "\x1b" not in text
    if output_format == "junit":
        junit(text)
    elif output_format == "sarif":
        Sarif.model_validate_json(text)
        [entry] = json.loads(text)["runs"][0]["results"]
        assert unquote(entry["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) == PATH
    elif output_format == "gitlab":
        gitlab(text)
    elif output_format == "rdjson":
        rdjson(text)
    elif output_format == "json":
        json.loads(text)
    lines = [line for line in text.splitlines() if line.lstrip().startswith("::")]
    assert len(lines) == (2 if output_format == "github" else 0)
    if output_format == "github":
        assert annotations(text)[1][1]["file"] == PATH
    if output_format == "markdown":
        assert "<b>" not in text and "@team" not in text


def test_a_finding_keeps_its_identity_when_lines_move_and_loses_it_when_they_change() -> None:
    def named(text: str) -> list[str]:
        source = SourceText(text)
        places = [match.start() for match in re.finditer("torch.ger", text)]
        return identities((Finding("TL401", "a.py", Span(at, at + 9), "Old."), source) for at in places)

    before = named("x = torch.ger(a, b)\ny = torch.ger(a, b)\nx = torch.ger(a, b)\n")
    assert len(set(before)) == 3
    assert (
        named("import torch\n\nif x:\n    x = torch.ger(a, b)\n\r    y  = torch.ger(a, b)\r\nx = torch.ger(a, b)")
        == before
    )
    assert named("x = torch.ger(a, c)\ny = torch.ger(a, b)\nx = torch.ger(a, b)\n")[1:] == [before[1], before[0]]


def test_several_reports_are_written_beside_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n")
    done = told(
        tmp_path, "migrate", "--check", "a.py", "--output-file", "sarif=r.sarif", "--output-file", "junit=r.xml"
    )
    assert done.returncode == 1 and "TL401" in done.stdout
    assert len(json.loads((tmp_path / "r.sarif").read_text())["runs"][0]["results"][0]["fixes"]) == 1
    assert junit((tmp_path / "r.xml").read_text()).failures == 1
    alone = told(tmp_path, "migrate", "--check", "a.py", "--output-format", "concise", "--output-file", "a.txt")
    assert alone.stdout == "" and "TL401" in (tmp_path / "a.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--output-file", "no/x.sarif"], "There is no folder 'no'"),
        (["--output-file", "sarif="], "names no file"),
        (["--output-file", "sarfi=a.sarif"], "There is no format 'sarfi'; did you mean 'sarif'?"),
        (["--output-file", "a.txt", "--output-file", "b.txt"], "name the format of others"),
        (["--output-format", "sarif", "--statistics"], "--statistics counts findings"),
        (["--output-file", "sarif=/dev/full"], "could not be written to /dev/full: No space left on device"),
    ],
)
def test_a_report_that_cannot_be_is_a_sentence_and_exit_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "a.py").write_text("import torch\n")
    done = told(tmp_path, "migrate", "--check", ".", *arguments)
    assert done.returncode == 2 and said in done.stderr
