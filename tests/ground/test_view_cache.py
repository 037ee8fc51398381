"""Views are kept for the files that are still to be checked first, and never more than memory allows."""

from __future__ import annotations

import ast

import pytest

from torchlift.search.view_cache import ViewCache
from torchlift.source import SourceText
from torchlift.view import ModuleView


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlift.search.view_cache._MOST_TEXT", 60)
    monkeypatch.setattr("torchlift.search.view_cache._MOST_AWAITED", 40)


def view(path: str, size: int = 10) -> ModuleView:
    text = "#" * size
    return ModuleView(path, SourceText(text), ast.parse(text), path)


def filled(paths: str, awaited: str = "") -> ViewCache:
    cache = ViewCache()
    cache.expect(awaited)
    for path in paths:
        cache.add(path, view(path))
    return cache


def kept(cache: ViewCache) -> str:
    return "".join(path for path in "abcdefghij" if cache.get(path) is not None)


def test_the_views_that_were_used_last_are_kept() -> None:
    assert kept(filled("abcdef")) == "abcdef" and kept(filled("abcdefgh")) == "cdefgh"
    cache = filled("abcdef")
    cache.get("a")
    cache.add("g", view("g"))
    assert kept(cache) == "acdefg"


def test_views_of_files_to_check_outlive_others() -> None:
    assert kept(filled("abcdefghij", awaited="ab")) == "abghij"


def test_of_too_many_files_to_check_those_stay_that_come_first() -> None:
    assert kept(filled("fedcba", awaited="abcdef")) == "abcd"
    # The one that was just parsed is about to be used.
    assert (
        kept(filled("abcdef", awaited="abcdef")) == "abcdef" and kept(filled("abcdefg", awaited="abcdefg")) == "abcdfg"
    )


def test_a_file_that_was_checked_is_kept_no_longer_than_others() -> None:
    cache = filled("abcdef", awaited="a")
    cache.done("a")
    cache.add("g", view("g"))
    assert cache.get("b") is None and cache.get("a") is not None
    for path in "hijbcd":
        cache.add(path, view(path))
    assert cache.get("a") is None
    cache.done("never seen")


def test_one_view_is_kept_however_large_it_is() -> None:
    for awaited in ("", "a"):
        cache = filled("bc", awaited)
        cache.add("a", view("a", 1000))
        assert kept(cache) == "a"
