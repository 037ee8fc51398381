"""Lines that a fix makes too long are wrapped as the project's formatter would: what black 26.10.1 writes, line for line."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import analyse_files, new_bytes

from torchlift.versions import TorchVersion

HEAD = "import torch\n\n"
BLACK = "[tool.black]\n"
# what it is about: (configuration, line before, lines after)
LINES = {
    "arguments on a line of their own": (
        BLACK,
        'state = torch.ger(torch.ones(123456789, device="cpu"), torch.zeros(123456789, d="cpu"))\n',
        'state = torch.outer(\n    torch.ones(123456789, device="cpu"), torch.zeros(123456789, d="cpu")\n)\n',
    ),
    "the end of the line": (
        "[tool.ruff]\nline-length = 59\n",
        "state = torch.ger(torch.ones(123456789), torch.zeros(129))\n",
        "state = torch.outer(\n    torch.ones(123456789), torch.zeros(129)\n)\n",
    ),
    "an argument that is too long itself": (
        "[tool.ruff]\nline-length = 40\n",
        "x = torch.ger(first(one, two1), second3)\n",
        "x = torch.outer(\n    first(one, two1), second3\n)\n",
    ),
    "what is called on the result": (
        "[tool.black]\nline-length = 40\n",
        "x = torch.ger(aaaaaaaa, bbbbbbbb).sum()\n",
        "x = torch.outer(\n    aaaaaaaa, bbbbbbbb\n).sum()\n",
    ),
    "no formatter": ("", "x = torch.ger(" + "a" * 40 + ", " + "b" * 29 + ")\n", None),
    "a formatter without a length": (
        "[tool.ruff.lint]\nselect = []\n",
        "x = torch.ger(" + "a" * 40 + ", " + "b" * 29 + ")\n",
        None,
    ),
    "a line that was too long": ("[tool.black]\nline-length = 20\n", "x = torch.ger(aaaaaaaa, bbbbbbbb)\n", None),
    "a comment": ("[tool.black]\nline-length = 30\n", "x = torch.ger(aaaa, bbbb)  # a\n", None),
    "operators": ("[tool.black]\nline-length = 30\n", "x = torch.ger(aaa, bbb) + cccc\n", None),
    "two statements": ("[tool.black]\nline-length = 30\n", "x = torch.ger(aaa, bbb); y = 1\n", None),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("settings", "line", "expected"), LINES.values(), ids=LINES)
def test_a_line_is_wrapped_where_a_formatter_says_how_long_it_may_be(
    settings: str, line: str, expected: str | None, newline: str, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(settings)
    expected = line.replace("torch.ger", "torch.outer") if expected is None else expected
    result = analyse_files(tmp_path, {"a.py": (HEAD + line).replace("\n", newline).encode()})
    assert new_bytes(result, "a.py") == (HEAD + expected).replace("\n", newline).encode()
    assert not result.failures


def test_lines_inside_a_function_are_wrapped_below_it(tmp_path: Path) -> None:
    (tmp_path / "ruff.toml").write_text("line-length = 50\n")
    before = HEAD + "\ndef f(x, y):\n    return torch.ger(first(x, 1), second(y, 2, 3))\n"
    after = HEAD + "\ndef f(x, y):\n    return torch.outer(\n        first(x, 1), second(y, 2, 3)\n    )\n"
    assert new_bytes(analyse_files(tmp_path, {"a.py": before}), "a.py") == after.encode()


def test_each_argument_has_its_line_where_one_is_too_short_for_them(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.black]\nline-length = 44\n")
    before = HEAD + "c = torch.load(path, map_location=otherwise)\nnet.load_state_dict(c)\n"
    after = before.replace(
        "(path, map_location=otherwise)", "(\n    path,\n    map_location=otherwise,\n    weights_only=True,\n)"
    )
    result = analyse_files(tmp_path, {"a.py": before}, unsafe=True, min_torch=TorchVersion(2, 0))
    assert new_bytes(result, "a.py") == after.encode()
