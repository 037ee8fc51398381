"""A notebook is the Python in it, and goes back into its file with nothing else touched."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from exhaustive import tried
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlift.notebook import read_source, searched
from torchlift.notebook.source import NotebookSource
from torchlift.source import Span, UnreadableSource


def notebook(*cells: str | list[str], indent: int | None = 1, **metadata: Any) -> bytes:
    """A notebook with these cells of code, and one of text before them."""
    made: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# About torch"]}]
    for source in cells:
        lines = source.splitlines(keepends=True) if isinstance(source, str) else source
        made.append({"cell_type": "code", "execution_count": 7, "metadata": {}, "outputs": [], "source": lines})
    whole = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(whole, indent=indent, ensure_ascii=False) + "\n").encode()


def opened(data: bytes) -> NotebookSource:
    source = read_source("a.ipynb", data)
    assert isinstance(source, NotebookSource)
    return source


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline", "pass  # ipython| %matplotlib inline"),
        ("if x:\n    !pip install y", "if x:\n    pass  # ipython|     !pip install y"),
        ("a = b = 1\nfiles = !ls *.py", "a = b = 1\nfiles = ...  # ipython| files = !ls *.py"),
        ("!pip install \\\n  torch", "pass  # ipython| !pip install \\\n# ipython|   torch"),
        ("%%time\nf(1)", "pass  # ipython| %%time\nf(1)"),
        ("%%capture\n%%bash\necho", "pass  # ipython| %%capture\n# ipython| %%bash\n# ipython| echo"),
        ("%%html\n<b>", "# ipython| %%html\n# ipython| <b>"),
        ("torch.load?", "pass  # ipython| torch.load?"),
        ("x = torch.load?", "pass  # ipython| x = torch.load?"),
        ("%%time?\nx = 1", "pass  # ipython| %%time?\nx = 1"),
        ("for x in y: z[x] = !ls", "for x in y: z[x] = ...  # ipython| for x in y: z[x] = !ls"),
        ("%uv pip install torch", "pass  # ipython| %uv pip install torch"),
        ("s = ('%d'\n     % 3)\n%cd x", "s = ('%d'\n     % 3)\npass  # ipython| %cd x"),
        ('t = """\n%cd x\n"""\n%cd y', 't = """\n%cd x\n"""\npass  # ipython| %cd y'),
        ("x = 5 % 3", "x = 5 % 3"),
        ("await f()", "await f()"),
    ],
)
def test_what_ipython_runs_becomes_lines_of_python_and_goes_back(cell: str, python: str) -> None:
    source = opened(notebook(cell))
    assert source.text == python
    assert source.cell_texts(source.text) == [cell]
    ast.parse(source.text)


def test_a_pair_of_halves_and_lines_that_end_as_on_windows_are_text() -> None:
    data = b'{"cells": [{"cell_type": "code", "source": ["s = \'\\ud83d\\ude00\'\\r\\n", "torch.ger"]}]}'
    assert opened(data).text == "s = '\U0001f600'\r\ntorch.ger"
    assert opened(data).replaced(opened(data).text.replace("ger", "outer")).to_bytes() == data.replace(b"ger", b"outer")


def test_a_cell_that_is_no_python_is_left_out_and_the_others_are_read() -> None:
    source = opened(notebook("x = 1", "for x in", "y = 2"))
    assert source.unparsed == {3}
    assert [node.lineno for node in ast.parse(source.text).body] == [1, 5]
    assert source.part(5).number == 4


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_an_edit_changes_its_line_and_no_other_byte(indent: int | None) -> None:
    data = notebook("x = 'é'\ny = torch.ger(a, b)", "z = 3\n", "w = 4", indent=indent)
    source = opened(data)
    assert source.to_bytes() == data
    new = source.replaced(source.text.replace("torch.ger", "torch.outer"))
    assert new.to_bytes() == data.replace(b"torch.ger", b"torch.outer")
    inserted = source.replaced(source.text.replace("y = ", "y = 0\ny = ")).to_bytes()
    assert opened(inserted).cell_texts(opened(inserted).text)[0] == "x = 'é'\ny = 0\ny = torch.ger(a, b)"  # type: ignore[index]
    assert len(inserted.splitlines()) == len(data.splitlines()) + (indent is not None)


def test_a_list_of_several_lines_a_string_keeps_that_form() -> None:
    data = notebook(["a = 1\nb = torch.ger(x, y)\nc = 2"])
    source = opened(data)
    assert source.replaced(source.text.replace("ger", "outer")).to_bytes() == data.replace(b"ger", b"outer")


def test_a_source_that_is_one_string_and_ascii_stays_so() -> None:
    data = b'{"cells": [{"cell_type": "code", "source": "s = \'\\u00e9\'\\nt = 1"}], "nbformat": 4}'
    source = opened(data)
    assert source.text == "s = 'é'\nt = 1"
    assert source.replaced("s = 'é'\nt = 2").to_bytes() == data.replace(b"t = 1", b"t = 2")


def test_lines_of_a_long_cell_that_are_all_alike_keep_the_way_they_are_escaped() -> None:
    lines = ", ".join(["\"x = '\\u0061'\\n\""] * 300)
    data = f'{{"cells": [{{"cell_type": "code", "source": ["y = 1\\n", {lines}]}}], "nbformat": 4}}'.encode()
    source = opened(data)
    assert source.replaced(source.text.replace("y = 1", "y = 2")).to_bytes() == data.replace(b"y = 1", b"y = 2")


def test_places_are_told_by_cell_and_found_in_the_file() -> None:
    source = opened(notebook("import torch", "x = 1\nif x:\n    !pip install torch"))
    at = source.text.index("pip install")
    line = source.location(at)[0]
    assert (source.part(line).number, line - source.part(line).first + 1, source.column(at)) == (3, 3, 6)
    row = source.written(Span(at, at + 3))[0]
    assert "pip install" in source.raw.splitlines()[row - 1]


def test_only_commands_are_seen_by_who_reads_shells_and_they_stand_where_they_stood() -> None:
    shown = "import os\n!{sys.executable} -m pip install torch\n%time f()\na[0] = !uv sync\n%uv add y"
    source = opened(notebook(shown, "%%bash\npip install x"))
    assert source.commands.text.split() == "python -m pip install torch uv sync uv add y pip install x".split()
    at = source.commands.text.index("torch")
    assert source.text[at : at + 5] == "torch"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{", "no JSON"),
        (b"[1, 2]", "no JSON"),
        (b'{"nbformat": 4}', "no cells"),
        (b'{"worksheets": [], "nbformat": 3}', "nbconvert"),
        (b'{"cells": [{"cell_type": "code", "source": "a", "source": "b"}]}', "twice"),
        (b'{"cells": [' + b"[" * 100_000, "no JSON"),
        (b'\xff{"cells": []}', "utf-8"),
        (b'{"cells": [{"cell_type": "code", "source": ["a", "\\ud800"]}]}', "cell 1 holds .*ud800"),
        (b'{"cells": [{"cell_type": "code", "source": "a\\rb"}]}', r"cell 1 holds .*\\r"),
        (b'{"cells": [{"cell_type": "code", "source": "a\\u0000"}]}', r"cell 1 holds .*\\x00"),
    ],
)
def test_what_is_no_notebook_is_said_to_be_none(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableSource, match=why):
        opened(data)
    with pytest.raises(UnreadableSource, match=why):
        searched(data)


def test_a_notebook_of_another_language_holds_no_python() -> None:
    assert opened(notebook("x <- 1", kernelspec={"language": "R"})).text == ""


_LINES = st.sampled_from(
    [
        "x = 1",
        "    y = 2",
        "%cd a",
        "!ls \\",
        "%%time",
        "%%bash",
        "z = !ls",
        "'''",
        "# %% cell 3",
        "# ipython| x",
        "f(",
        ")",
        "",
        "é = 1",
    ]
)


@settings(max_examples=tried(80, 200))
@given(st.lists(st.lists(_LINES, max_size=5).map("\n".join), min_size=1, max_size=5))
def test_any_cells_come_back_as_they_were(cells: list[str]) -> None:
    data = notebook(*cells)
    try:
        source = opened(data)
    except UnreadableSource as error:
        assert "told apart" in str(error)
        assert any("# %% cell" in cell for cell in cells)
        return
    assert source.to_bytes() == data
    assert source.text.count("\n") == searched(data).decode().count("\n")
    ast.parse(source.text)
