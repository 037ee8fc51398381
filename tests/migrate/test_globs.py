from __future__ import annotations

import pytest

from torchlift.migrate.workspace.globs import PathPatterns


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
