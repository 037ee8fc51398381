"""Pages of the documentation do what they say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from executed_page import blocks, follow

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "fork"), reason="proofs are made in forks")
def test_evidence_is_recorded_and_applied_as_the_page_says(tmp_path: Path) -> None:
    page = (DOCS / "evidence.md").read_text(encoding="utf-8")
    *files, after = [*blocks(page, "toml"), *blocks(page, "python")]
    follow(page, files, tmp_path)
    assert after in (tmp_path / "scorer.py").read_text() + "\n"


@pytest.mark.exhaustive
def test_fixes_are_verified_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path.parent))
    page = (DOCS / "verify.md").read_text(encoding="utf-8")
    follow(page, blocks(page, "python"), tmp_path)
    changed = (tmp_path / "scores.py").read_text()
    assert "@torch.jit.script\ndef phase" in changed
    assert "\n\ndef pairs(a, b):\n    return torch.outer(a, b)\n" in changed


@pytest.mark.exhaustive
def test_archives_are_inspected_and_converted_as_the_page_says(tmp_path: Path) -> None:
    page = (DOCS / "convert.md").read_text(encoding="utf-8")
    follow(page, blocks(page, "python"), tmp_path)
