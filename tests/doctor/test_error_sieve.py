"""Logs are sieved by words before patterns are tried: the sieve never drops a row whose pattern matches."""

from __future__ import annotations

import re

import pytest
from exhaustive import tried
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlift.doctor.errors.matching import candidates, vocabulary, words
from torchlift.doctor.errors.table import KNOWN

LETTERS = st.text("abcdefgh", min_size=1, max_size=9)
Part = tuple[str, str]
"""A piece of a pattern, and a text that it matches."""


def _repeated(part: Part) -> st.SearchStrategy[Part]:
    pattern, text = part
    if re.search(r"[^(]\?|\}", pattern):  # a repetition of repetitions takes `re` minutes to match
        return st.just(part)
    whole = pattern if len(pattern) == 1 else f"(?:{pattern})"
    return st.sampled_from(
        [(f"{whole}?", ""), (f"{whole}?", text), (f"{whole}{{0,3}}", text * 3), (f"{whole}{{1,2}}", text)]
    )


def _one_of(parts: list[Part]) -> st.SearchStrategy[Part]:
    pattern = f"(?:{'|'.join(pattern for pattern, _ in parts)})"
    return st.sampled_from([(pattern, text) for _, text in parts])


PARTS = st.recursive(
    LETTERS.map(lambda text: (text, text)) | st.sampled_from([(r"\w", "x"), ("[ab]", "b"), (" ", " "), (r"\.", ".")]),
    lambda inner: st.lists(inner, min_size=1, max_size=3).flatmap(_one_of)
    | inner.flatmap(_repeated)
    | st.lists(inner, min_size=1, max_size=3).map(lambda all: ("".join(p for p, _ in all), "".join(t for _, t in all))),
)  # fmt: skip


@given(st.lists(PARTS, min_size=1, max_size=4))
@settings(max_examples=tried(100, 300))
def test_words_of_a_pattern_stand_in_each_text_that_it_matches(parts: list[Part]) -> None:
    pattern, text = "".join(pattern for pattern, _ in parts), "".join(text for _, text in parts)
    assert re.fullmatch(pattern, text)
    assert any(all(word in text for word in letters) for letters in words(pattern)), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("abcdefgh", [{"abcdefgh"}]),
        ("abcx?defghijk", [{"abc", "defghijk"}]),
        ("abcdefgh{2}ijkl", [{"abcdefg", "ijkl"}]),
        (r"abcdefgh\d?ijkl", [{"abcdefgh", "ijkl"}]),
        ("abcdefgh|ijklmnop", [{"abcdefgh"}, {"ijklmnop"}]),
        ("ab (?:cdefghij|klmnopqr)", [{"cdefghij"}, {"klmnopqr"}]),
        ("ab (?:cdefghij)?", [set()]),
    ],
)
def test_the_sieve_keeps_as_many_letters_as_a_pattern_demands(pattern: str, expected: list[set[str]]) -> None:
    assert [set(each) for each in words(pattern)] == expected


def test_every_row_is_a_candidate_for_its_own_texts() -> None:
    for row in KNOWN:
        for text in row.says:
            assert row in [each for each, _ in candidates(vocabulary(text), (row,))], (row.id, text)
