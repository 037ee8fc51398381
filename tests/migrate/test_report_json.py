"""The machine format and its schema."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from closed_schema import closed

from torchlift.finding import FileFailure, Finding, Fix, Safety, Severity, TextEdit
from torchlift.migrate.result import FileOutcome, Mode, RunResult
from torchlift.migrate.tell.report import render
from torchlift.migrate.tell.report.json_schema import migrate_schema
from torchlift.source import SourceText, Span
from torchlift.versions import TorchVersion

SCHEMA = migrate_schema()
NAMES = {"TL101": "torchscript-trace"}
URLS = {"TL101": "https://example.org/tl101"}


def report(result: RunResult, root: Path | None = None) -> dict[str, Any]:
    text = render(result, "json", root=root or Path.cwd(), color=True, names=NAMES, urls=URLS)
    assert text.isascii()
    assert text.endswith("}\n")
    loaded: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(closed(SCHEMA)).validate(loaded)
    return loaded


def run(*outcomes: FileOutcome, mode: Mode = Mode.CHECK, **more: Any) -> RunResult:
    values: dict[str, Any] = {
        "unsafe_fixes": False,
        "target": TorchVersion(2, 15),
        "min_torch": TorchVersion(2, 13),
        "min_torch_source": "pyproject.toml:3",
        "files_seen": 9,
        "files_analysed": 3,
    }
    return RunResult(mode=mode, outcomes=outcomes, **{**values, **more})


TEXT = "m = torch.jit.trace(\r\n    net, 'é👍'\r\n)\r\n"
CALL = Span(4, TEXT.index(")") + 1)
TRACE = Finding("TL101", "src/train.py", CALL, "Gone.", Severity.ERROR, "Look.", Fix("Export it", Safety.SAFE, ()))
TRACE = replace(TRACE, notes=("rank 0 waits", "rank 1 waits"), waits_for="src/net.py:7")


def test_the_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_finding_has_the_keys_of_ruff_and_the_edits_of_its_fix() -> None:
    edits = ((TextEdit(Span(4, 19), "torch.export.export"), TextEdit(Span(len(TEXT), len(TEXT)), "\r\n")),)
    outcome = FileOutcome("src/train.py", SourceText(TEXT), left=(TRACE,), edits=edits)
    assert report(run(outcome))["findings"] == [
        {
            "code": "TL101",
            "name": "torchscript-trace",
            "message": "Gone.",
            "help": "Look.",
            "notes": ["rank 0 waits", "rank 1 waits"],
            "waits_for": "src/net.py:7",
            "dropped": None,
            "severity": "error",
            "filename": "src/train.py",
            "cell": None,
            "location": {"row": 1, "column": 5},
            "end_location": {"row": 3, "column": 2},
            "fixed": False,
            "fix": {
                "applicability": "safe",
                "message": "Export it",
                "edits": [
                    {
                        "content": "torch.export.export",
                        "location": {"row": 1, "column": 5},
                        "end_location": {"row": 1, "column": 20},
                    },
                    {"content": "\r\n", "location": {"row": 4, "column": 1}, "end_location": {"row": 4, "column": 1}},
                ],
            },
            "url": "https://example.org/tl101",
        }
    ]


def test_the_envelope_says_what_was_run() -> None:
    whole = report(run(files_seen=1, files_analysed=0, min_torch_source=None))
    assert whole.pop("torchlift_version")
    assert whole == {
        "schema_version": 1,
        "mode": "check",
        "unsafe_fixes": False,
        "evidence": None,
        "target": "2.15",
        "min_torch": "2.13",
        "min_torch_source": None,
        "root": ".",
        "findings": [],
        "refused": [],
        "failures": [],
        "notes": [],
        "summary": {
            "files_seen": 1,
            "files_analysed": 0,
            "files_changed": 0,
            "fixed": 0,
            "left": 0,
            "safe": 0,
            "proven": 0,
            "unsafe": 0,
            "manual": 0,
            "suppressed": 0,
            "known": 0,
        },
    }


def test_fixed_findings_are_listed_with_their_place_in_the_text_as_read() -> None:
    new = "import x\nm = f(\n)\n"
    rest = Finding("TL102", "src/train.py", Span(new.index("f("), new.index(")") + 1), "Manual.")
    outcome = FileOutcome("src/train.py", SourceText(TEXT), left=(rest,), fixed=(TRACE,), new_text=new)
    whole = report(run(outcome, mode=Mode.WRITE))
    assert [(item["code"], item["fixed"], item["location"]["row"]) for item in whole["findings"]] == [
        ("TL101", True, 1),
        ("TL102", False, 2),
    ]
    assert whole["findings"][1]["name"] is None
    assert whole["findings"][1]["fix"] is None
    assert whole["summary"] == {
        "files_seen": 9,
        "files_analysed": 3,
        "files_changed": 1,
        "fixed": 1,
        "left": 1,
        "safe": 0,
        "proven": 0,
        "unsafe": 0,
        "manual": 1,
        "suppressed": 0,
        "known": 0,
    }


def test_a_finding_whose_fix_was_not_written_is_not_fixed() -> None:
    outcome = FileOutcome("src/train.py", SourceText(TEXT), fixed=(TRACE,), new_text="m = 1\n", refused="It is dirty.")
    whole = report(run(outcome, mode=Mode.WRITE))
    assert whole["findings"][0]["fixed"] is False
    assert whole["refused"] == [{"path": "src/train.py", "reason": "It is dirty."}]
    assert whole["summary"]["safe"] == 1
    assert whole["summary"]["files_changed"] == 0


def test_failures_notes_and_suppressions_are_reported() -> None:
    failure = FileFailure("b\udcff.py", "rule TL101", "It failed.", ours=True, detail="Traceback")
    whole = report(run(failures=(failure,), notes=("Note.",), suppressed=2))
    assert whole["failures"] == [{"path": "b\udcff.py", "stage": "rule TL101", "reason": "It failed.", "ours": True}]
    assert whole["notes"] == ["Note."]
    assert whole["summary"]["suppressed"] == 2


def test_file_names_lead_from_the_root_and_the_root_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = report(run(FileOutcome("src/train.py", SourceText(TEXT), left=(TRACE,))), tmp_path / "a" / "repo")
    assert whole["root"] == "a/repo"
    assert whole["findings"][0]["filename"] == "src/train.py"


def test_unsafe_fixes_and_unread_files_fit_the_schema() -> None:
    unsafe = Finding("TL101", "b.py", Span(0, 1), "Gone.", Severity.INFO, "", Fix("Try", Safety.UNSAFE, ()))
    unread = Finding("TL902", "c.py", Span(0, 0), "Not analysed.")
    whole = report(
        run(
            FileOutcome("b.py", SourceText("x"), left=(unsafe,)),
            FileOutcome("c.py", SourceText(""), left=(unread,)),
            unsafe_fixes=True,
        )
    )
    assert whole["findings"][0]["fix"] == {"applicability": "unsafe", "message": "Try", "edits": []}
    assert whole["findings"][0]["help"] is None
    assert whole["findings"][1]["location"] == whole["findings"][1]["end_location"] == {"row": 1, "column": 1}


def test_the_same_run_gives_the_same_bytes_in_any_order_of_its_findings() -> None:
    other = Finding("TL102", "src/train.py", Span(0, 1), "Other.")
    one = FileOutcome("src/train.py", SourceText(TEXT), left=(TRACE, other))
    two = FileOutcome("src/train.py", SourceText(TEXT), left=(other, TRACE))
    assert render(run(one), "json", root=Path()) == render(run(two), "json", root=Path())


def test_the_schema_notices_a_missing_key() -> None:
    whole = report(run(FileOutcome("src/train.py", SourceText(TEXT), left=(TRACE,))))
    for key in whole["findings"][0]:
        broken = copy.deepcopy(whole)
        del broken["findings"][0][key]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(SCHEMA).validate(broken)
