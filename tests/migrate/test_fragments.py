"""What a template becomes when its holes are filled: brackets where another meaning threatens, and nowhere else."""

from __future__ import annotations

import pytest

from torchlift.migrate.fix.rewrite.fragments import CannotEdit, fill, parse_import, render


@pytest.mark.parametrize(
    ("template", "parts", "text"),
    [
        ("f($a, [$b])", {"a": "x + 1", "b": "y if z else w"}, "f(x + 1, [y if z else w])"),
        ("f(key=$a)", {"a": "x + 1"}, "f(key=x + 1)"),
        ("f(*$a, key=$b)", {"a": "x or y", "b": "n := 1"}, "f(*x or y, key=(n := 1))"),
        ("$a.b", {"a": "x + 1"}, "(x + 1).b"),
        ("$a.b", {"a": "(x + 1)"}, "(x + 1).b"),
        ("$a * $b", {"a": "x", "b": "y[0]"}, "x * y[0]"),
        ("f($a)", {"a": "n := 1"}, "f((n := 1))"),
    ],
)
def test_a_part_is_bracketed_where_its_place_would_read_it_otherwise(
    template: str, parts: dict[str, str], text: str
) -> None:
    assert render(fill(template, parts)) == text


@pytest.mark.parametrize("text", ["import a", "from a import b; c = 1", "from a import"])
def test_only_one_plain_import_is_taken_for_one(text: str) -> None:
    with pytest.raises(CannotEdit):
        parse_import(text)
