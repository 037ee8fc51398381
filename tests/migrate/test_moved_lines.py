"""Lines that stand under the bracket of a call whose name changes, and long chains of fixes of one name."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import analyse_files, new_bytes

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


def test_a_chain_of_fixes_of_one_name_comes_to_its_end(tmp_path: Path) -> None:
    net = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\nnet = Net()\n"
    code = net + "net = torch.jit.script(net)\n" * 25 + "net(torch.ones(2))\n"
    result = analyse_files(tmp_path, {"m.py": code}, unsafe=True)
    assert not result.failures
    assert new_bytes(result, "m.py") == f"{net}net(torch.ones(2))\n".encode()
