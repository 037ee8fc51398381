"""When reports have colour."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from torchlift.migrate.tell.report.palette import Palette
from torchlift.terminal.color import ColorChoice, wants_color


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "terminal", "environ", "colored"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", True, {"TERM": "xterm"}, True),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("auto", False, {"FORCE_COLOR": ""}, False),
        ("auto", False, {"FORCE_COLOR": "0"}, False),
        ("auto", False, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        ("auto", True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("always", False, {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_the_option_outranks_the_environment_which_outranks_the_terminal(
    choice: ColorChoice, terminal: bool, environ: dict[str, str], colored: bool
) -> None:
    assert wants_color(choice, Terminal() if terminal else io.StringIO(), environ) is colored


def test_the_environment_of_the_process_is_used_unless_another_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color("auto", Terminal())


def test_a_closed_stream_has_no_colour() -> None:
    stream = Terminal()
    stream.close()
    assert not wants_color("auto", stream, {})


def test_without_colour_a_palette_gives_its_text_back() -> None:
    palette = Palette(False)
    assert palette.path("a.py") == palette.good("a.py") == palette.hunk("a.py") == "a.py"


def test_reports_without_colour_import_nothing_heavy() -> None:
    program = """
import sys
from pathlib import Path
from torchlift.finding import Finding
from torchlift.migrate.tell.report import render
from torchlift.migrate.tell.report import diff, statistics, summary
from torchlift.migrate.result import FileOutcome, Mode, RunResult
from torchlift.source import SourceText, Span
from torchlift.versions import TorchVersion
found = Finding("TL101", "a.py", Span(0, 1), "Gone.")
outcome = FileOutcome("a.py", SourceText("x\\n"), left=(found,), new_text="y\\n")
result = RunResult(Mode.CHECK, False, TorchVersion(2, 15), TorchVersion(2, 13), None, 1, 1, (outcome,))
for output_format in ("full", "concise", "json"):
    assert render(result, output_format, root=Path())
    assert statistics.render(result, output_format, names={})
assert summary.summary(result, root=Path())
assert diff.run_patch(result)
heavy = {"click", "libcst", "rich", "packaging", "torch", "jsonschema", "importlib.metadata"} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
