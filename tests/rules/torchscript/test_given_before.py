"""Who may have written a file that is loaded: the last call that was given its name and may write."""

from __future__ import annotations

import ast

import pytest

from torchlift.rules.torchscript.captures.handed_files import given_before
from torchlift.source import SourceText
from torchlift.view import ModuleView


@pytest.mark.parametrize(
    ("lines", "call"),
    [
        ("", None),
        ("fill(path)", "fill(path)"),
        ("fill(path); store.download(path)", "store.download(path)"),
        ("fill(path); print(path); os.remove(path); logger.info(path)", "fill(path)"),
        ("fill(path); path.exists(); path()", "fill(path)"),
        ("other = path", None),
    ],
)
def test_the_last_call_that_may_write_a_file_is_named(lines: str, call: str | None) -> None:
    code = "\n".join(["import os", "path = named()", *lines.split("; "), "load(path)"]) + "\n"
    view = ModuleView("a.py", SourceText(code), ast.parse(code), "a")
    loaded = view.tree.body[-1]
    assert isinstance(loaded, ast.Expr) and isinstance(loaded.value, ast.Call)
    found = given_before(view, loaded.value.args[0])
    assert (found and ast.unparse(found)) == call
