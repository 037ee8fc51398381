"""Long work says how far it is, how fast it goes and how long the rest takes."""

from __future__ import annotations

import pytest

from torchlift.terminal import progress
from torchlift.terminal.progress import ProgressLine


def test_rates_and_what_is_left_are_those_of_the_work_at_hand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    line = ProgressLine()
    for doing, at, done in (
        ("Reading ", 0.5, 1),
        ("Reading ", 10.5, 101),
        ("Checking ", 11.0, 0),
        ("Checking ", 31.0, 10),
    ):
        now = at
        line.show(doing, done, 200, "files")
    line.clear()
    shown = capsys.readouterr().err.split("\r")  # no terminal, so that click takes the codes of one away
    assert shown == ["", "Reading 101 of 200 files, 10 a second, 10 s left", "Checking 0 of 200 files",
                     "Checking 10 of 200 files, 30 a minute, 6 min left", ""]  # fmt: skip


def test_short_work_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine()
    line.show("Reading ", 1, 2, "files")
    line.clear()
    assert capsys.readouterr().err == ""
