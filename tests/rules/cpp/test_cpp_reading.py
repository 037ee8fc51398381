"""C++ is read as code: comments, strings, branches on the release, names through namespaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlift.rules.analysis.cpp.branches import Branches
from torchlift.rules.analysis.cpp.conditions import value_of
from torchlift.rules.analysis.cpp.names import names_in
from torchlift.versions import TorchVersion
from torchlift.view.cpp_text import cpp_code

NEW = TorchVersion(2, 15)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a(); // torch::jit", "a();              "[:19]),
        ('s = "torch::jit \\" x"; b', 's = "               "; b'),
        ("n = 1'000'000; m = '\"'; k", "n = 1'000'000; m = ' '; k"),
        ('R"(a " b)" c', 'R"(     )" c'),
        ('u8R"x(a)" b)x" c', 'u8R"x(     )x" c'),
        ('#include "torch/script.h" // x', '#include "torch/script.h"     '),
        ("/* a\nb */ c", "    \n     c"),
        ("// a \\\n b\nc", "      \n  \nc"),
        ("#define A \\\n  b", "#define A     b"),
    ],
)
def test_comments_strings_and_continuations_are_blank(text: str, code: str) -> None:
    read, _ = cpp_code(text)
    assert read == code.ljust(len(text))


@given(st.text(alphabet="ab1'\"\\/*\nR()x#, "))
def test_no_text_changes_its_length_or_gains_lines(text: str) -> None:
    code, comments = cpp_code(text)
    assert len(code) == len(text)
    assert all(now in {before, " "} for before, now in zip(text, code, strict=True))
    assert all(0 <= span.start < span.end <= len(text) for span in comments)


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("TORCH_VERSION_MAJOR >= 2", 1),
        ("TORCH_VERSION_MAJOR < 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 6)", 0),
        ("TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR > 214", 1),
        ("!defined(TORCH_VERSION_MAJOR)", 0),
        ("defined(WITH_CUDA)", None),
        ("defined(WITH_CUDA) && TORCH_VERSION_MAJOR < 2", 0),
        ("defined(WITH_CUDA) || TORCH_VERSION_MAJOR >= 2", 1),
        ("__has_include(<THC/THC.h>)", None),
        ("1 +", None),
        ("0x10 == 16", 1),
    ],
)
def test_a_condition_is_known_as_far_as_the_release_decides_it(condition: str, value: int | None) -> None:
    assert value_of(condition, NEW) == value


CHOICE = """first
#if TORCH_VERSION_MAJOR < 2
old
#elif defined(WITH_CUDA)
gpu
#else
cpu
#endif
#ifdef VERSION_GE_1_5
by_macro
#endif
#if CUDA_VERSION >= 11000
cuda
#endif
#ifndef AT_CHECK
own
#endif
last
"""


@pytest.mark.parametrize(
    ("word", "compiled"),
    [
        ("first", True),
        ("old", False),
        ("gpu", True),
        ("cpu", True),
        ("by_macro", False),
        ("cuda", True),
        ("own", False),
        ("last", True),
    ],
)
def test_a_branch_is_left_out_where_a_release_may_decide_it(word: str, compiled: bool) -> None:
    assert Branches(CHOICE, NEW).may_compile(CHOICE.index(word), "AT_CHECK") is compiled


def test_names_are_followed_through_aliases_and_namespaces() -> None:
    code = "namespace F = torch::nn::functional;\nusing namespace torch;\nF::relu(x); jit :: load(x); a.at::b; std::at::c; ::at::zeros();\n"
    names = {item.spellings[0] for item in names_in(code)}
    assert {"torch::nn::functional::relu", "torch::jit::load", "at::zeros"} <= names
    assert not any(name.endswith(("::b", "::c")) for name in names)
