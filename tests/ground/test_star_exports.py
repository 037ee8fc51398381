"""What `from module import *` may bind."""

from __future__ import annotations

import ast

import pytest

from torchlift.search.reads import star_exports
from torchlift.source import SourceText
from torchlift.view import ModuleView


@pytest.mark.parametrize(
    ("code", "exported"),
    [
        ("x = _y = 1\n", {"x"}),
        ('__all__ = ["_y"]\nx = _y = 1\n', {"_y"}),
        ('__all__ = ("x",)\nx = _y = 1\n', {"x"}),
        ('__all__ = ["x", *more]\nx = _y = 1\n', {"x", "_y"}),
        ('__all__ = ["x"]\n__all__.append(more)\nx = _y = 1\n', {"x", "_y"}),
        ("__all__ = made()\nx = _y = 1\n", {"x", "_y"}),
    ],
)
def test_a_star_hands_on_what_all_lists_or_else_what_is_public(code: str, exported: set[str]) -> None:
    view = ModuleView("pkg/api.py", SourceText(code), ast.parse(code), "pkg.api")
    assert {name for name in ("x", "_y") if star_exports(view, name)} == exported
