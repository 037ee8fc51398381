"""A defect in one stage is a result about one file; the other files are migrated all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import analyse_files, new_bytes

import torchlift.migrate.fix.rewrite.build
from torchlift.migrate.find.check import Dispatcher
from torchlift.migrate.find.selection import Selection
from torchlift.project import Project

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
        (torchlift.migrate.fix.rewrite.build, "build_edits", "rewrite"),
    ],
    ids=["parse", "select", "check", "rewrite"],
)
def test_a_crash_in_a_stage_concerns_one_file(
    owner: object, name: str, stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, broken_for_a(getattr(owner, name)))
    result = analyse_files(tmp_path, FILES)
    assert [(failure.path, failure.stage, failure.ours) for failure in result.failures] == [("a.py", stage, True)]
    assert "ZeroDivisionError" in result.failures[0].detail and result.exit_code == 2
    assert new_bytes(result, "a.py") is None and new_bytes(result, "b.py") is not None
