"""The prefilter finds whole words, whatever stands around them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlift.search.prefilter import GroupedPrefilter, Prefilter

WORDS = ["jit", "ger", "init.uniform", "init as", "init", "_composable", "trigger"]


@pytest.mark.parametrize("data", [b"jit", b"x.jit(", b"(ger)", b"from torch import ger\n", b"\xffjit\xff", b"a ger b"])
def test_a_word_is_found(data: bytes) -> None:
    assert Prefilter(["jit", "ger"]).matches(data)


@pytest.mark.parametrize("data", [b"", b"jitter", b"trigger", b"ger_", b"_jit", b"jit2", b"Jit"])
def test_a_part_of_a_word_is_not_found(data: bytes) -> None:
    assert not Prefilter(["jit", "ger"]).matches(data)


def test_a_part_of_a_word_does_not_hide_the_word_behind_it() -> None:
    assert Prefilter(["ger"]).matches(b"trigger ger_ ger")


def test_both_words_of_a_pair_are_needed() -> None:
    pair = Prefilter(["upsample & functional"])
    assert pair.matches(b"functional upsample") and pair.matches(b"upsample(functional")
    assert not pair.matches(b"upsample") and not pair.matches(b"functional")


def test_triggers_may_come_one_by_one() -> None:
    assert Prefilter(word for word in WORDS).matches(b"jit")


def test_without_triggers_nothing_matches() -> None:
    assert not Prefilter([]).matches(b"anything")


@given(st.lists(st.sampled_from([*WORDS, "x", ".", " ", "_", "jitter", "inits", "\n"]), max_size=12))
def test_it_agrees_with_a_plain_search(parts: list[str]) -> None:
    text = "".join(parts)
    plain = any(re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text, re.ASCII) for word in WORDS)
    assert Prefilter(WORDS).matches(text.encode()) == plain


def test_groups_are_told_apart_in_one_pass() -> None:
    groups = GroupedPrefilter({"rules": ["jit", "ger & torch"], "loads": ["load & jitter", "ger"]})
    assert groups.found(b"x = jit.load(jitter)") == {"rules", "loads"}
    assert groups.found(b"ger()") == {"loads"} and groups.found(b"torch.ger()") == {"rules", "loads"}
    assert groups.found(b"load(jitter)") == {"loads"} and groups.found(b"load trigger") == set()
    assert GroupedPrefilter({}).found(b"jit") == set()


@given(st.integers(0, 40), st.sampled_from([b"ger", b" ger ", b"gerger", b"init.uniform", b"x"]), st.integers(1, 30))
def test_a_word_across_the_edge_of_a_piece_is_found_as_in_one_piece(before: int, text: bytes, size: int) -> None:
    data = b"_" * (before // 7) + b" " * before + text + b" tail"
    whole = Prefilter(["ger", "init.uniform"]).matches(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torchlift.search.vocabulary._PART", size)
        assert Prefilter(["ger", "init.uniform"]).matches(data) == whole


LINES = [
    "from torch import jit\n",
    "import torch as t",
    "\n",
    "x = jit",
    "  # important: from torch import *\n",
    "\r",
    "import \\\n",
    "t",
]


@given(
    st.lists(st.sampled_from(LINES), max_size=8),
    st.sampled_from(["import jit", "torch import", "from torch import *", "import torch as t"]),
)
def test_texts_of_import_lines_are_found_as_elsewhere(parts: list[str], text: str) -> None:
    data = "".join(parts)
    assert Prefilter([text]).matches(data.encode()) == bool(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", data))
    # The first word of a companion may go on in front where it stands alone elsewhere.
    companion = re.search(rf"(?<!\w){re.escape(text)}", data) is not None and "torch" in data
    assert companion <= Prefilter([f"torch & {text}"]).matches(data.encode()) <= (text in data)
