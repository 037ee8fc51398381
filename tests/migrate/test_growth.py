"""Twice as much of the same costs twice as much: calls are counted, since seconds depend on the machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from example_project import analyse_files

from torchlift.migrate.result import Mode

_SHAPES = {
    "one name bound again and again": ("import torch\n", "x = torch.jit.script(x)\n", Mode.CHECK),
    "suppressions": ("import torch\n", "x = torch.ger(a, b)  # torchlift: ignore[TL401] why\n", Mode.CHECK),
    "unused suppressions": ("import torch\n", "x = 1  # torchlift: ignore[TL401] why\n", Mode.DIFF),
}


def calls(folder: Path, text: str, mode: Mode) -> int:
    """How many functions a run over one file calls."""
    counted = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        analyse_files(folder, {"a.py": text}, mode=mode)
    finally:
        sys.setprofile(before)
    return counted


@pytest.mark.parametrize("shape", _SHAPES)
def test_twice_as_many_findings_cost_twice_as_many_calls(shape: str, tmp_path: Path) -> None:
    head, line, mode = _SHAPES[shape]
    calls(tmp_path / "first", head + line, mode)  # what is made once in a process
    one, some, more = (calls(tmp_path / str(n), head + line * n, mode) for n in (1, 60, 120))
    assert (more - one) / (some - one) <= 2.35
