"""What the full report shows once: equal edits, adjacent lines, findings that wait for another, the deprecation."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands import told

HINT = "import torch\n\n\nclass Net(torch.nn.Module):\n    @torch.jit.unused\n    def f(self, x):\n        return x\n"
ROOT = "import torch\n\nfrom net.hint import Net\n\n\ndef main():\n    scripted = torch.jit.script(Net())\n    return scripted.code\n"
SWITCHES = (
    "import torch\n\ntorch._C._jit_set_profiling_mode(False)\ntorch._C._jit_set_profiling_executor(False)\n"
    "torch._C._jit_set_texpr_fuser_enabled(False)\n"
)
NORM = "import torch\n\n\ndef size(x, p):\n    return torch.norm(x, p)\n"


def report(folder: Path, files: dict[str, str], *options: str, here: str = ".") -> str:
    for name, text in {"pyproject.toml": '[project]\nname = "net"\ndependencies = ["torch>=2.6"]\n', **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return told(folder / here, "migrate", os.path.relpath(folder, folder / here), "--check", *options).stdout


HELD = {"net/__init__.py": "", "net/hint.py": HINT, "net/root.py": ROOT}


def test_a_finding_that_waits_is_a_count_under_the_one_it_waits_for(tmp_path: Path) -> None:
    shown = report(tmp_path, HELD)
    assert "net/hint.py:5" not in shown
    block = next(block for block in shown.split("\n\n") if block.startswith("net/root.py:7:"))
    assert "= waits: 1 finding in 1 file waits for this: TL112 1 (`--verbose` shows all)" in block


@pytest.mark.parametrize("option", ["--verbose", "--output-format=json", "--output-format=concise"])
def test_all_findings_are_there_for_who_wants_them(tmp_path: Path, option: str) -> None:
    assert "net/hint.py" in report(tmp_path, HELD, option)


def test_a_place_that_is_no_finding_itself_has_a_line_of_its_own(tmp_path: Path) -> None:
    shown = report(tmp_path, HELD, "--ignore", "TL102")
    assert shown.startswith("net/root.py:7 has to change first: 1 finding in 1 file waits for it: TL112 1")


def test_adjacent_lines_share_a_frame(tmp_path: Path) -> None:
    shown = report(tmp_path, {"a.py": SWITCHES}, "--select", "TL131")
    heads = [line for line in shown.splitlines() if line.startswith("a.py:")]
    assert [line.split()[0] for line in heads] == ["a.py:3:1", "a.py:4:1", "a.py:5:1"]
    assert shown.count("3 | torch._C._jit_set_profiling_mode(False)") == 1 and shown.count("^^^") >= 3
    assert len(shown.split("\n\n")) == 1


def test_the_same_advice_elsewhere_is_a_place_and_no_second_frame(tmp_path: Path) -> None:
    files = {f"part{number}.py": NORM for number in range(5)}
    shown = report(tmp_path, files, "--select", "TL417")
    assert shown.count("5 |     return torch.norm(x, p)") == 1
    assert "= also: part1.py:5:12, part2.py:5:12, part3.py:5:12, part4.py:5:12" in shown


def test_two_questions_in_one_condition_share_a_frame(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\ndef f(x):\n    if not torch.jit.is_scripting() and not torch.jit.is_tracing():\n"
        "        print(x)\n    return x\n"
    )
    shown = report(tmp_path, {"a.py": code})
    assert shown.count("5 |     if not torch.jit.is_scripting()") == 1
    assert "= help: TL117: " in shown and "= help: TL118: " in shown


def test_the_deprecation_is_told_once(tmp_path: Path) -> None:
    files = {f"part{number}.py": ROOT.replace(".code", f".code[{number}]") for number in range(3)}
    files["load.py"] = "import torch\n\nnet = torch.jit.load(input())\n"
    shown = report(tmp_path, files)
    assert shown.count("TorchScript is deprecated: `DeprecationWarning` since torch 2.10") == 1
    assert "TL102 `torch.jit.script`. It compiles source code" in shown or "TL103 `torch.jit.load`. " in shown


def test_places_in_help_can_be_opened_from_where_the_user_stands(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    shown = report(tmp_path, HELD, "--verbose", here="elsewhere")
    assert "../net/root.py:7" in shown.partition("= help: Keep it")[2]
