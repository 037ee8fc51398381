"""The text formats, `full` and `concise`."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from torchlift.finding import FileFailure, Finding, Fix, Safety, Severity
from torchlift.migrate.result import FileOutcome, Mode, RunResult
from torchlift.migrate.tell.report import render
from torchlift.migrate.tell.report.formats.listing import troubles_of
from torchlift.source import SourceText, Span
from torchlift.terminal.columns import cells
from torchlift.versions import TorchVersion

HERE = Path.cwd()


def run(*outcomes: FileOutcome, mode: Mode = Mode.CHECK, unsafe_fixes: bool = False) -> RunResult:
    return RunResult(
        mode=mode,
        unsafe_fixes=unsafe_fixes,
        target=TorchVersion(2, 15),
        min_torch=TorchVersion(2, 13),
        min_torch_source="pyproject.toml:3",
        files_seen=9,
        files_analysed=3,
        outcomes=outcomes,
    )


def finding(text: str, part: str, safety: Safety = Safety.SAFE, help_: str | None = None) -> Finding:
    start = text.index(part)
    fix = None if safety is Safety.MANUAL else Fix("Export the module", safety, ())
    return Finding("TL101", "train.py", Span(start, start + len(part)), "Tracing is gone.", help=help_, fix=fix)


def full(text: str, *findings: Finding, unsafe_fixes: bool = False) -> str:
    outcome = FileOutcome("train.py", SourceText(text), left=findings)
    return render(run(outcome, unsafe_fixes=unsafe_fixes), "full", root=HERE)


def frame_of(text: str, part: str) -> str:
    """The frame alone: no header, no help."""
    lines = full(text, finding(text, part)).splitlines()
    return "\n".join(lines[2:-1])


def underlined(frame: str) -> str:
    """The text above the carets, by terminal column (all characters must be one column wide)."""
    above, carets = next(
        (above, below) for above, below in zip(frame.splitlines(), frame.splitlines()[1:], strict=False) if "^" in below
    )
    return above[carets.index("^") : carets.rindex("^") + 1]


def test_a_finding_shows_where_what_the_code_and_the_fix() -> None:
    text = "import torch\n\nwith torch.no_grad():\n    m = torch.jit.trace(net, x)\n    m.save(p)\n\n\nserve(p)\n"
    assert (
        full(text, finding(text, "torch.jit.trace(net, x)"))
        == """\
train.py:4:9 TL101 [*] Tracing is gone.
  |
3 | with torch.no_grad():
4 |     m = torch.jit.trace(net, x)
  |         ^^^^^^^^^^^^^^^^^^^^^^^
5 |     m.save(p)
  |
  = help: [*] Export the module
"""
    )


def test_a_fix_that_needs_review_is_not_marked_as_applicable() -> None:
    text = "torch.jit.load(p)\n"
    report = full(text, finding(text, "torch.jit.load(p)", Safety.UNSAFE, "It assumes that `p` is an archive."))
    assert report.splitlines()[0] == "train.py:1:1 TL101 Tracing is gone."
    assert report.splitlines()[-2:] == [
        "  = help: Export the module (needs review: `--unsafe-fixes --diff` shows it)",
        "  = help: It assumes that `p` is an archive.",
    ]


def test_a_fix_that_needs_review_is_marked_when_unsafe_fixes_are_wanted() -> None:
    text = "torch.jit.load(p)\n"
    report = full(text, finding(text, "torch.jit.load(p)", Safety.UNSAFE), unsafe_fixes=True)
    assert report.splitlines()[0] == "train.py:1:1 TL101 [*] Tracing is gone."
    assert report.splitlines()[-1] == "  = help: [*] Export the module (needs review)"


def test_notes_stand_before_the_help_one_a_line() -> None:
    text = "model = trace(m)\n"
    noted = replace(finding(text, "trace(m)", Safety.MANUAL, "Batch them."), notes=("rank 0 waits", "rank 1\nwaits"))
    report = full(text, noted)
    assert report.splitlines()[-3:] == ["  = note: rank 0 waits", "  = note: rank 1 waits", "  = help: Batch them."]


def test_a_manual_finding_shows_the_help_of_its_rule() -> None:
    text = "torch.jit.load(p)\n"
    report = full(text, finding(text, "torch.jit.load(p)", Safety.MANUAL, "Load it with\n`torch.export.load`."))
    assert report.splitlines()[-1] == "  = help: Load it with `torch.export.load`."


def test_a_finding_without_advice_ends_with_its_frame() -> None:
    text = "torch.jit.load(p)\n"
    assert full(text, finding(text, "torch.jit.load(p)", Safety.MANUAL, "")).splitlines()[-1] == "  |"


def test_findings_are_separated_by_a_blank_line_and_sorted() -> None:
    text = "a = b\n" + "\n" * 4 + "c = d\n"
    second, first = finding(text, "c", Safety.MANUAL, "Drop c."), finding(text, "a", Safety.MANUAL)
    assert (
        full(text, second, first)
        == """\
train.py:1:1 TL101 Tracing is gone.
  |
1 | a = b
  | ^
  |

train.py:6:1 TL101 Tracing is gone.
  |
6 | c = d
  | ^
  |
  = help: Drop c.
"""
    )


def test_a_run_without_findings_reports_nothing() -> None:
    assert render(run(), "full", root=HERE) == ""
    assert render(run(), "concise", root=HERE) == ""


def test_of_a_span_over_several_lines_the_first_is_underlined_without_trailing_space() -> None:
    text = "m = torch.jit.trace(  \n    net,\n    x,\n)\n"
    assert (
        frame_of(text, text[4:-1])
        == """\
1 | m = torch.jit.trace(
  |     ^^^^^^^^^^^^^^^^
2 |     net,
3 |     x,
  |"""
    )


def test_tabs_are_expanded_and_carets_stay_below_the_code() -> None:
    frame = frame_of("if x:\n\ty =\ttorch.jit.load(p)\n", "torch.jit.load(p)")
    assert "\t" not in frame
    assert underlined(frame) == "torch.jit.load(p)"
    assert "2 |     y = torch.jit.load(p)" in frame.splitlines()


def test_a_caret_counts_two_columns_for_wide_and_none_for_combining_characters() -> None:
    text = "x = '你好👍e\u0301'; torch.jit.load(p)\n"
    assert (
        frame_of(text, "torch.jit.load(p)")
        == """\
1 | x = '你好👍e\u0301'; torch.jit.load(p)
  |                ^^^^^^^^^^^^^^^^^
  |"""
    )


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_every_newline_of_python_ends_a_line(newline: str) -> None:
    text = newline.join(["a = 1", "b = torch.jit.load(p)", "c = 2", ""])
    assert (
        full(text, finding(text, "torch.jit.load(p)", Safety.MANUAL))
        == """\
train.py:2:5 TL101 Tracing is gone.
  |
1 | a = 1
2 | b = torch.jit.load(p)
  |     ^^^^^^^^^^^^^^^^^
3 | c = 2
  |
"""
    )


def test_form_feeds_and_unicode_separators_do_not_break_the_frame() -> None:
    text = "\x0ca = '\u2028\x85'; torch.jit.load(p)\n"
    frame = frame_of(text, "torch.jit.load(p)")
    assert len(frame.splitlines()) == 3
    assert underlined(frame) == "torch.jit.load(p)"


def test_source_text_cannot_act_on_the_terminal() -> None:
    text = "x = '\x1b[2J\u202e\x07\x7f\x9b'; torch.jit.load(p)\n"
    frame = frame_of(text, "torch.jit.load(p)")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", frame)
    assert underlined(frame) == "torch.jit.load(p)"


def test_an_empty_file_has_a_header_and_help_but_no_frame() -> None:
    unread = Finding("TL902", "train.py", Span(0, 0), "Not analysed.", help="Exclude it.")
    assert full("", unread) == "train.py:1:1 TL902 Not analysed.\n  = help: Exclude it.\n"


def test_a_span_at_the_end_of_the_file_gets_one_caret() -> None:
    text = "a = 1\n"
    at_end = Finding("TL101", "train.py", Span(len(text), len(text)), "Something is missing.")
    assert (
        full(text, at_end)
        == """\
train.py:2:1 TL101 Something is missing.
  |
1 | a = 1
2 |
  | ^
  |
"""
    )


def test_a_span_beyond_the_text_is_cut_to_it() -> None:
    beyond = Finding("TL101", "train.py", Span(100, 200), "Something is missing.")
    assert "1 | a = 1\n  |      ^\n" in full("a = 1", beyond)


def test_line_numbers_are_right_aligned() -> None:
    text = "a\n" * 98 + "torch.jit.load(p)\nb\nc\n"
    assert (
        frame_of(text, "torch.jit.load(p)")
        == """\
 97 | a
 98 | a
 99 | torch.jit.load(p)
    | ^^^^^^^^^^^^^^^^^
100 | b
101 | c
    |"""
    )


@pytest.mark.parametrize(("before", "after"), [(500_000, 0), (0, 500_000), (250_000, 250_000)])
def test_a_megabyte_on_one_line_gives_a_short_frame(before: int, after: int) -> None:
    text = "1+" * before + "torch.jit.load(p)" + "+1" * after
    report = full(text, finding(text, "torch.jit.load(p)"))
    assert f"train.py:1:{2 * before + 1} " in report
    assert max(map(len, report.splitlines())) < 160
    assert underlined(report) == "torch.jit.load(p)"
    shown = report.splitlines()[2]
    assert ("| ..." in shown) == (before > 0)
    assert shown.endswith("...") == (after > 0)


def test_a_span_of_a_megabyte_is_underlined_as_far_as_it_is_shown() -> None:
    text = "x = f(" + "1+" * 500_000 + "1)"
    report = full(text, finding(text, text[4:]))
    carets = next(line for line in report.splitlines() if "^" in line)
    assert max(map(len, report.splitlines())) < 160
    assert 100 < carets.count("^") < 160
    assert underlined(report).startswith("f(1+1+")


def test_long_context_lines_are_cut() -> None:
    text = "a = " + "1+" * 10_000 + "1\ntorch.jit.load(p)\n"
    assert max(map(len, frame_of(text, "torch.jit.load(p)").splitlines())) < 160


def test_many_findings_on_one_long_line_are_reported_in_no_time() -> None:
    text = "f(p);" * 200_000
    findings = [
        Finding("TL101", "train.py", Span(start, start + 4), "Gone.")
        for start in range(0, len(text), len(text) // 2000)
    ]
    start = time.process_time()
    report = full(text, *findings)
    assert time.process_time() - start < 3
    assert len(report) < 2100 * 700


def test_concise_is_one_line_a_finding() -> None:
    text = "a = torch.jit.load(p)\r\n"
    findings = (
        finding(text, "a", Safety.MANUAL),
        finding(text, "torch.jit.load(p)"),
        finding(text, "p", Safety.UNSAFE),
    )
    report = render(run(FileOutcome("train.py", SourceText(text), left=findings)), "concise", root=HERE)
    assert report == (
        "train.py:1:1: TL101 Tracing is gone.\n"
        "train.py:1:5: TL101 [*] Tracing is gone.\n"
        "train.py:1:20: TL101 Tracing is gone.\n"
    )


def test_columns_count_code_points_and_not_the_byte_order_mark() -> None:
    source = SourceText.from_bytes("\ufeff你 = torch.jit.load(p)\n".encode())
    outcome = FileOutcome("train.py", source, left=(finding(source.text, "torch.jit.load(p)"),))
    assert render(run(outcome), "concise", root=HERE).startswith("train.py:1:5: ")


def test_findings_left_after_writing_are_shown_in_the_new_text() -> None:
    new = "import torch.export\nm = torch.jit.load(p)\n"
    outcome = FileOutcome(
        "train.py", SourceText("m = torch.jit.load(p)\n"), left=(finding(new, "torch.jit.load(p)"),), new_text=new
    )
    report = render(run(outcome, mode=Mode.WRITE), "full", root=HERE)
    assert report.startswith("train.py:2:5 ")
    assert "1 | import torch.export\n2 | m = torch.jit.load(p)" in report


def test_fixed_findings_are_not_listed() -> None:
    text = "torch.jit.load(p)\n"
    outcome = FileOutcome(
        "train.py", SourceText(text), fixed=(finding(text, "torch.jit.load(p)"),), new_text="torch.export.load(p)\n"
    )
    assert render(run(outcome, mode=Mode.WRITE), "full", root=HERE) == ""


def test_findings_whose_fix_was_not_written_after_all_are_listed() -> None:
    text = "torch.jit.load(p)\n"
    outcome = FileOutcome(
        "train.py",
        SourceText(text),
        fixed=(finding(text, "torch.jit.load(p)"),),
        new_text="torch.export.load(p)\n",
        refused="the disk is full",
    )
    report = render(run(outcome, mode=Mode.WRITE), "concise", root=HERE)
    assert report == "train.py:1:1: TL101 [*] Tracing is gone.\n"


def test_paths_are_shown_as_seen_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repo" / "src").mkdir(parents=True)
    text = "torch.jit.load(p)\n"
    result = run(FileOutcome("train.py", SourceText(text), left=(finding(text, "p"),)))
    for folder, shown in [("", "repo/train.py:"), ("repo", "train.py:"), ("repo/src", "../train.py:")]:
        monkeypatch.chdir(tmp_path / folder)
        assert render(result, "concise", root=tmp_path / "repo").startswith(shown)


def test_a_file_name_cannot_break_a_line_or_act_on_the_terminal() -> None:
    strange = Finding("TL101", "a\nb\x1b[1m\udcff.py", Span(0, 1), "Gone.\nReally.")
    report = render(run(FileOutcome(strange.path, SourceText("x\n"), left=(strange,))), "concise", root=HERE)
    assert report == "a\u240ab\u241b[1m\ufffd.py:1:1: TL101 Gone. Really.\n"
    report.encode()


def test_colour_changes_no_character() -> None:
    text = "x = torch.jit.load(p)\n"
    outcome = FileOutcome("train.py", SourceText(text), left=(finding(text, "torch.jit.load(p)"),))
    for output_format in ("full", "concise"):
        colored = render(run(outcome), output_format, root=HERE, color=True)
        assert "\x1b[" in colored
        assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(run(outcome), output_format, root=HERE)


def test_severity_has_a_colour_of_its_own() -> None:
    shown = set()
    for severity in Severity:
        one = Finding("TL101", "train.py", Span(0, 1), "Gone.", severity)
        shown.add(
            render(run(FileOutcome("train.py", SourceText("x\n"), left=(one,))), "concise", root=HERE, color=True)
        )
    assert len(shown) == 3


def test_an_unknown_format_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'xml' is not an output format; choose one of full, concise, json"):
        render(run(), "xml", root=HERE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", [0, 1, 2, 3]),
        ("a\tb", [0, 1, 4, 5]),
        ("\t\t", [0, 4, 8]),
        ("你a", [0, 2, 3]),
        ("e\u0301x", [0, 1, 1, 2]),
        ("👩\u200d💻", [0, 2, 2, 4]),
        ("\u1112\u1161\u11ab", [0, 2, 2, 2]),
        ("a\u00adb", [0, 1, 2, 3]),
        ("", [0]),
    ],
)
def test_characters_take_the_columns_a_terminal_gives_them(text: str, columns: list[int]) -> None:
    assert list(cells(text)[1]) == columns


def test_what_failed_and_what_was_not_written_is_told_once_for_a_file() -> None:
    left = tuple(FileOutcome(name, SourceText("x\n"), refused="It changed.") for name in ("a.py", "b.py"))
    result = replace(run(*left), failures=(FileFailure("b.py", "rule TL401", "It failed."),))
    told = [(trouble.path, trouble.reason) for trouble in troubles_of(result, HERE)]
    assert told == [("b.py", "It failed."), ("a.py", "It changed.")]
