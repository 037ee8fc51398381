"""What stops a step of a conversion is told as its result."""

from __future__ import annotations

import pytest

from torchlift.convert.road.emitting import code_of
from torchlift.convert.road.record import ComparedCase, Conversion
from torchlift.convert.road.show import shown
from torchlift.convert.road.step import BadArchive, NoResult, said
from torchlift.terminal.style import Style


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


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("int64[2]<7", "torch.randint(0, 7, [2], dtype=torch.int64)"),
        ({"dict": {"a": 1, "b": {"str": "c"}}}, "{'a': 1, 'b': 'c'}"),
        ({"tuple": [1.5, None]}, "(1.5, None,)"),
        (True, "True"),
    ],
)
def test_inputs_in_words_become_python(words: object, code: str) -> None:
    assert code_of(words, 10) == code


@pytest.mark.parametrize(
    ("outcome", "name", "allowed"),
    [("differs", "rows + 3", True), ("differs", "inputs as given", False), ("same", "rows + 3", False)],
)
def test_a_difference_may_be_allowed_unless_the_given_inputs_differ(outcome: str, name: str, allowed: bool) -> None:
    cases = [ComparedCase(name, "float32[2]", 1, "migrated differs", ["0 is not 1"])]
    lines = list(shown([Conversion("a.pt", "", outcome, "It differs.", cases=cases)], Style()))
    assert f"    {name} (float32[2]): migrated differs: 0 is not 1" in lines
    assert (f"    --allow '{name}' writes the program all the same" in lines) is allowed
