"""A defect in one stage is a result about one file; the other files are migrated all the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from example_project import analyse_files, new_bytes

import torchlift.migrate.examine
import torchlift.migrate.fix.rewrite.build
import torchlift.migrate.fix.rewrite.cleanup
import torchlift.migrate.fix.verify
from torchlift.migrate.document import PythonDocument
from torchlift.migrate.find.check import Dispatcher
from torchlift.migrate.find.selection import Selection
from torchlift.project import Project
from torchlift.rules.registry import all_rules

FILES = {"a.py": "import torch\nx = torch.ger(1, 2)\n", "b.py": "import torch\ny = torch.ger(3, 4)\n"}


def broken_for_a(original: object) -> object:
    def wrapper(*arguments: object, **options: object) -> object:
        if any(getattr(argument, "path", argument) == "a.py" for argument in arguments):
            raise ZeroDivisionError("by design")
        return original(*arguments, **options)  # type: ignore[operator]

    return wrapper


@pytest.mark.parametrize(
    ("owner", "name", "stage"),
    [
        (Project, "parse", "check"),
        (Selection, "wanted_by", "select"),
        (Dispatcher, "check", "check"),
        (PythonDocument, "suppressions", "check"),
        (torchlift.migrate.fix.rewrite.build, "build_edits", "rewrite"),
        (torchlift.migrate.fix.rewrite.cleanup, "unused_imports", "rewrite"),
        (torchlift.migrate.fix.verify, "problem_with", "rewrite"),
    ],
    ids=["parse", "select", "check", "suppress", "rewrite", "clean up", "verify"],
)
def test_a_crash_in_a_stage_concerns_one_file(
    owner: object, name: str, stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, broken_for_a(getattr(owner, name)))
    result = analyse_files(tmp_path, FILES)
    assert [(failure.path, failure.stage, failure.ours) for failure in result.failures] == [("a.py", stage, True)]
    assert "ZeroDivisionError" in result.failures[0].detail and result.exit_code == 2
    assert new_bytes(result, "a.py") is None and new_bytes(result, "b.py") is not None


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("comment", ["ignore[TL101] why", "file-ignore[TL101]", "ignore"])
@pytest.mark.parametrize("broken", ["        return x\n", "<<<<<<< HEAD\n", "x = (\n"], ids=["indent", "merge", "open"])
def test_a_suppression_in_a_file_that_does_not_parse_stops_nothing(
    broken: str, comment: str, unsafe: bool, tmp_path: Path
) -> None:
    text = f"{broken}# torchlift: {comment}\n"
    result = analyse_files(tmp_path, {"bad.py": text, **FILES}, unsafe=unsafe)
    assert not result.failures
    assert [finding.code for o in result.outcomes if o.path == "bad.py" for finding in o.left] == ["TL902"]
    assert new_bytes(result, "a.py") is not None and new_bytes(result, "b.py") is not None


def test_where_unreadable_files_are_not_reported_their_suppressions_are_not_either(tmp_path: Path) -> None:
    files = {"bad.py": "x = (\n# torchlift: ignore[TL101] why\n", **FILES}
    result = analyse_files(tmp_path, files, codes=frozenset(all_rules()) - {"TL902"})
    assert [outcome.path for outcome in result.outcomes] == ["a.py", "b.py"] and not result.failures


def test_a_rule_that_crashes_on_a_file_leaves_its_suppressions_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(use: object, context: object) -> object:
        raise ZeroDivisionError("by design")

    kept = "import torch\nx = torch.ger(1, 2)  # torchlift: ignore[TL401] why\ny = 1  # torchlift: ignore[TL402] why\n"
    found = torchlift.migrate.examine._dispatcher(tuple(sorted(all_rules())), ())
    rules = [replace(rule, check=crash) if rule.code == "TL401" else rule for rule in found.rules]
    monkeypatch.setattr(torchlift.migrate.examine, "_dispatcher", lambda codes, own: Dispatcher(rules))
    result = analyse_files(tmp_path, {"a.py": kept})
    assert [failure.stage for failure in result.failures] == ["rule TL401"]
    assert new_bytes(result, "a.py") == kept.replace("  # torchlift: ignore[TL402] why", "").encode()
