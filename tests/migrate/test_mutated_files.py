"""Odd code: a run finds no defect of its own, what it writes is Python, and a second run changes nothing."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from example_project import RUN_HERE, analyse_files
from exhaustive import tried
from mutated_sources import mutated, parses

from torchlift.migrate.result import RunResult
from torchlift.torchscript_intent import UNSTATED, TorchScriptIntent
from torchlift.versions import TorchVersion

FILES = 8
# `TORCHLIFT_FUZZ=START:COUNT pytest tests/migrate/test_mutated_files.py` tries other seeds, each of them a project.
START, COUNT = map(int, os.environ.get("TORCHLIFT_FUZZ", f"0:{tried(24, 400)}").split(":"))


@pytest.mark.parametrize("seed", range(START, START + COUNT))
def test_mutated_examples_end_well(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    files = {f"m{number}.py": mutated(chance) for number in range(FILES)}
    unsafe, drops = chance.random() < 0.7, chance.random() < 0.4
    lowest = chance.choice([RUN_HERE, RUN_HERE, TorchVersion(2, 0)])
    intent = TorchScriptIntent(support="drop") if drops else UNSTATED

    def run(texts: dict[str, bytes]) -> RunResult:
        return analyse_files(tmp_path, texts, unsafe=unsafe, min_torch=lowest, torchscript=intent)

    first = run(files)
    assert [(failure.path, failure.reason, failure.detail) for failure in first.failures] == []
    changed = {outcome.path: outcome for outcome in first.outcomes if outcome.new_text is not None}
    new = {path: outcome.shown.to_bytes() for path, outcome in changed.items()}
    assert [path for path, data in new.items() if not parses(data)] == []
    for path in [path for path, outcome in changed.items() if outcome.is_removed]:
        (tmp_path / path).unlink()
        del files[path], new[path]
    second = run(files | new)
    again = [outcome for outcome in second.outcomes if outcome.new_text is not None]
    assert second.failures == () and [(outcome.path, outcome.new_text) for outcome in again] == []
