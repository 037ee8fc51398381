from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlift.search.globs import PathPatterns, PatternError, _parts, _variants


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("build", "build"),
        ("build", "src/build"),
        ("build/", "src/build"),
        ("./build", "build"),
        ("*_pb2.py", "a/b/x_pb2.py"),
        ("x?.py", "xy.py"),
        ("[ab].py", "a.py"),
        ("[!ab].py", "c.py"),
        ("[a-c]1.py", "b1.py"),
        ("[]x].py", "].py"),
        ("[.py", "[.py"),
        ("[z-a].py", "[z-a].py"),
        ("a[b.py", "a[b.py"),
        ("{a,b}.py", "b.py"),
        ("src/{a,b/*}.py", "src/b/c.py"),
        ("{a}.py", "{a}.py"),
        ("src/a.py", "src/a.py"),
        ("/src/a.py", "src/a.py"),
        ("src/*.py", "src/a.py"),
        ("src/**/x.py", "src/x.py"),
        ("src/**/x.py", "src/a/b/x.py"),
        ("**/test_*.py", "test_a.py"),
        ("**/test_*.py", "a/b/test_a.py"),
        ("src/**", "src/a/b.py"),
        ("a b/ü.py", "a b/ü.py"),
        ("x*.py", "x\n.py"),
    ],
)
def test_a_pattern_names_a_path(pattern: str, path: str) -> None:
    assert PathPatterns([pattern]).matches(path)
    assert PathPatterns(["other", pattern, "*.other"]).matches(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("build", "builder"),
        ("build", "build/a.py"),
        ("src/build", "lib/src/build"),
        ("src/*.py", "src/a/b.py"),
        ("x?y", "x/y"),
        ("a[!b]c/d", "a/c/d"),
        ("*.py", "a.pyi"),
        ("a.py", "aXpy"),
        ("src/**/x.py", "srcx.py"),
        ("", "a"),
        ("[!]", "x"),
    ],
)
def test_a_look_alike_is_not_named(pattern: str, path: str) -> None:
    assert not PathPatterns([pattern]).matches(path)


def test_a_folder_covers_what_is_in_it() -> None:
    patterns = PathPatterns(["build", "tests/data"])
    assert patterns.covers("a/build/b/c.py")
    assert patterns.covers("tests/data/x/y.py")
    assert patterns.covers("tests/data")
    assert not patterns.covers("tests/database/x.py")
    assert not patterns.covers("a/builds/x.py")


def test_no_patterns_name_nothing() -> None:
    assert not PathPatterns([]).matches("a")
    assert not PathPatterns([]).covers("a/b")


PIECES = ["a", "b", "/", "*", "**", "**/", "?", "[ab]", "[!a]", "{a,b}", "{a/,b}", ".", "[", "-"]


@given(
    pattern=st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join),
    path=st.lists(st.text("aab.-[", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join),
)
def test_patterns_of_many_stars_mean_what_they_mean_with_one_regular_expression(pattern: str, path: str) -> None:
    cleaned = pattern.strip().removeprefix("./").rstrip("/")
    whole = "/" in cleaned
    plain = re.compile("|".join("".join(_parts(one)) for one in _variants(cleaned.removeprefix("/"))), re.DOTALL)

    def named(path: str) -> bool:
        return plain.fullmatch(path if whole else path.rpartition("/")[2]) is not None

    folders = ["/".join(path.split("/")[:end]) for end in range(1, path.count("/") + 2)]
    assert PathPatterns([pattern]).matches(path) == named(path)
    assert PathPatterns([pattern]).covers(path) == any(map(named, folders))


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*a*a*b", "**a" * 20 + "b", "**/a/" * 20 + "b", "x/" + "*a" * 30 + "b"])
def test_a_hostile_pattern_is_answered(pattern: str) -> None:
    patterns = PathPatterns([pattern])
    assert not patterns.covers("a" * 255)
    assert not patterns.covers("x/" + "a/" * 2000 + "a" * 255)


def test_braces_that_stand_for_too_many_patterns_are_refused() -> None:
    assert PathPatterns(["{a,b}" * 9 + ".py"]).matches("abababaab.py")
    with pytest.raises(PatternError, match="more than 1000 patterns"):
        PathPatterns(["{a,b}" * 18])
