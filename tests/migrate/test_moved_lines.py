"""Lines that stand under the bracket of a call whose name changes, and long chains of fixes of one name."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes

from torchlift.migrate import applying

UNDER = [
    ("y = torch.ger(a,\n              b)\n", "y = torch.outer(a,\n                b)\n"),
    ("y = torch.ger(a,\r\n              b)\r\n", "y = torch.outer(a,\r\n                b)\r\n"),
    ("y = torch.ger(a,  # one\n              g(b,\n                c))\n", "y = torch.outer(a,  # one\n                g(b,\n                  c))\n"),
    ("y = torch.ger('''\n              ''', b)\n", "y = torch.outer('''\n              ''', b)\n"),
    ("y = torch.ger(\n    a,\n    b,\n)\n", "y = torch.outer(\n    a,\n    b,\n)\n"),
    ("y = torch.ger(a,\n    b)\n", "y = torch.outer(a,\n    b)\n"),
    ("y = torch.ger(a,\n              torch.ger(b,\n                        c))\n", "y = torch.outer(a,\n                torch.outer(b,\n                            c))\n"),
    ("y = torch.ger(a,\n\t      b)\n", "y = torch.outer(a,\n\t      b)\n"),
    ("torch.cuda.reset_max_memory_cached(a,\n                                   b)\n", "torch.cuda.reset_peak_memory_stats(a,\n                                   b)\n"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), UNDER)
def test_lines_move_with_the_bracket_that_they_stand_under(code: str, expected: str, tmp_path: Path) -> None:
    head = "import torch\r\n" if "\r" in code else "import torch\n"
    result = analyse_files(tmp_path, {"m.py": (head + code).encode()}, unsafe=True)
    assert new_bytes(result, "m.py") == (head + expected).encode()
    assert not result.failures


NET = (
    "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\nnet = Net()\n"
)
LAST = "net(torch.ones(2))\n"


def scripted(times: int) -> str:
    """A module that scripts a value again and again: each fix makes the next one possible."""
    return NET + "net = torch.jit.script(net)\n" * times + LAST


def test_a_chain_of_fixes_of_one_name_comes_to_its_end(tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"m.py": scripted(25)}, unsafe=True)
    assert not result.failures
    assert new_bytes(result, "m.py") == (NET + LAST).encode()


def test_what_is_left_of_a_chain_after_the_most_passes_waits_for_another_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(applying, "_MOST_IN_ALL", 5)
    left = 12
    while left:
        result = analyse_files(tmp_path, {"m.py": scripted(left)}, unsafe=True)
        assert not result.failures and len(all_findings(result)) == left
        left -= min(left, 5)
        assert new_bytes(result, "m.py") == scripted(left).encode()
    assert new_bytes(analyse_files(tmp_path, {"m.py": scripted(0)}, unsafe=True), "m.py") is None
