"""What stops a step of a conversion is told as its result."""

from __future__ import annotations

import pytest

from torchlift.convert.road.step import BadArchive, NoResult, said


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "it needs more memory than it may have (--memory)"),
        (BadArchive("holds no code"), "it holds no code"),
        (ValueError("two\nlines"), "ValueError: two"),
    ],
)
def test_an_error_becomes_a_sentence(error: Exception, told: str) -> None:
    results: list[object] = []
    with said(results.append):
        raise error
    assert results == [NoResult(told)]
