"""Bytes outside an edit never change, whatever the file looks like; files that cannot be analysed are said to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes
from exhaustive import tried

GER = "import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n"
CASES = {
    "CRLF": GER.replace("\n", "\r\n").encode(),
    "lone CR": GER.replace("\n", "\r").encode(),
    "mixed newlines": b"import torch\r\nx = 1\ny = torch.ger(1, 2)\r\nz = 2\r",
    "byte-order mark": b"\xef\xbb\xbf" + GER.encode(),
    "byte-order mark and CRLF": b"\xef\xbb\xbf" + GER.replace("\n", "\r\n").encode(),
    "latin-1 cookie": b"# -*- coding: latin-1 -*-\nname = '\xe9\xff'\n" + GER.encode(),
    "utf-8 beyond the BMP before the edit on the line": "import torch\nx = ('😀é', torch.ger(1, 2), '漢')\n".encode(),
    "form feed before a statement": GER.replace("def f", "\x0c\ndef f").encode(),
    "form feed inside a line": b"import torch\n\x0cx = torch.ger(1, 2)\n",
    "tabs": b"import torch\nif 1:\n\tif 2:\n\t\tx = torch.ger(1, 2)\t# tab\n",
    "no final newline": GER.rstrip("\n").encode(),
    "trailing white space and blank lines": b"import torch  \nx = torch.ger(1, 2)   \n\n\n   \n",
    "vertical tab and unicode separators in strings": "import torch\nx = '\x0b\u2028\x85'; y = torch.ger(1, 2)\n".encode(),
    "backslash continuation": b"import torch\nx = \\\n  torch.\\\n  ger(1, 2)\n",
    "semicolons": b"import torch; x = torch.ger(1, 2); y = 3;\n",
    "one-line suite": b"import torch\nif 1: x = torch.ger(1, 2); y = 3\n",
    "comment inside empty parentheses": b"import torch\nx = torch.ger(  # first\n    1, 2)  # second\n",
    "a one-line file of hundreds of thousands of bytes": b"import torch\nx = ["
    + b"1, " * tried(50_000, 350_000)
    + b"torch.ger(1, 2)]\n",
}


@pytest.mark.parametrize("data", CASES.values(), ids=CASES)
def test_only_the_renamed_characters_change(data: bytes, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": data})
    assert result.failures == ()
    expected = data.replace(b"torch.\\\n  ger", b"torch.outer").replace(b"torch.ger", b"torch.outer")
    assert new_bytes(result, "a.py") == expected
    (tmp_path / "a.py").write_bytes(expected)
    again = analyse_files(tmp_path, {"a.py": expected})
    assert new_bytes(again, "a.py") is None


def test_an_inserted_line_uses_the_newline_of_the_file(tmp_path: Path) -> None:
    data = b"import torch\r\nx: torch.jit.Final = 3\r\n"
    result = analyse_files(tmp_path, {"a.py": data})
    assert new_bytes(result, "a.py") == b"from typing import Final\r\n\r\nimport torch\r\nx: Final = 3\r\n"


def test_an_import_at_the_end_of_a_file_without_newline_gets_one(tmp_path: Path) -> None:
    data = b"from torch.jit import Final, script"
    result = analyse_files(tmp_path, {"a.py": data})
    assert new_bytes(result, "a.py") == b"from torch.jit import script\nfrom typing import Final"


UNREADABLE = {
    "syntax error": (b"import torch.jit\ndef f(:\n", "not valid Python"),
    "Python 2": (b"import torch.jit\nprint 'x'\n", "it is Python 2"),
    "undecodable": (b"import torch.jit\nx = '\xff'\n", "decoded"),
    "unknown encoding": (b"# coding: klingon\nimport torch.jit\n", "encoding"),
    "NUL bytes": (b"import torch.jit\nx = '\0'\n", "NUL"),
    "nested too deeply": (b"import torch.jit\nx = " + b"(" * 500 + b")" * 500 + b"\n", ""),
    "an operator chain too long for the parser": (b"import torch.jit\nx = " + b"-" * 20_000 + b"1\n", ""),
}


@pytest.mark.parametrize(("data", "word"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_analysed_is_reported_and_not_skipped(data: bytes, word: str, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": data, "b.py": GER})
    assert result.failures == ()
    findings = [finding for finding in all_findings(result) if finding.path == "a.py"]
    assert [finding.code for finding in findings] == ["TL902"]
    assert word in findings[0].message
    assert new_bytes(result, "a.py") is None
    assert new_bytes(result, "b.py") is not None


def test_a_file_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    analyse_files(tmp_path, {"a.py": GER})
    (tmp_path / "a.py").unlink()
    (tmp_path / "a.py").mkdir()  # opening it fails for every user, root included
    from torchlift.migrate.result import Mode
    from torchlift.migrate.run import RunOptions, analyse
    from torchlift.rules.registry import all_rules

    result = analyse(RunOptions(tmp_path, ("a.py",), Mode.DIFF, frozenset(all_rules())))
    assert [finding.code for finding in all_findings(result)] == ["TL902"]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\xef\xbb\xbf", b"# torch.jit\n"], ids=["empty", "newline", "BOM", "comment"]
)
def test_a_file_with_nothing_in_it_has_no_findings(data: bytes, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": data})
    assert result.outcomes == () and result.failures == ()


def test_deep_nesting_that_parses_is_analysed(tmp_path: Path) -> None:
    code = "import torch\n" + "".join(f"{' ' * i}if {i}:\n" for i in range(90)) + " " * 90 + "x = torch.ger(1, 2)\n"
    result = analyse_files(tmp_path, {"a.py": code})
    assert new_bytes(result, "a.py") == code.replace("ger", "outer").encode()


def test_a_long_chain_of_calls_is_analysed(tmp_path: Path) -> None:
    code = "import torch\nx = torch.ger(1, 2)" + ".view(1)" * 500 + "\n"
    result = analyse_files(tmp_path, {"a.py": code})
    assert new_bytes(result, "a.py") == code.replace("ger", "outer").encode()
