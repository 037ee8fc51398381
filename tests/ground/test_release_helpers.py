"""What a helper that asks for a release returns."""

from __future__ import annotations

import ast

import pytest

from torchlift.view.release_helpers import returned

REFUSED = "if unknown:\n    {}\nreturn True"


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("raise ValueError", True),
        ("raise ValueError\n    raise KeyError", True),
        ("print()\n    raise ValueError", None),
    ],
)
def test_only_a_refusal_alone_leaves_the_answer_to_what_comes_after(body: str, answer: bool | None) -> None:
    """What stands before it may be anything, such as another answer kept somewhere."""
    assert returned(ast.parse(REFUSED.format(body)).body, lambda test: None) is answer
