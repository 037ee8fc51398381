"""Views are kept for the files that are still to be checked first, and never more than memory allows."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlift.project import Project
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


def test_all_states_of_a_project_share_a_view_until_its_text_changes(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.py").write_text("import torch\n")
    before = Project(tmp_path, ("a.py", "b.py"))
    views = [before.parse(path) for path in before.files]
    after = before.with_texts({"b.py": SourceText("import numpy\n")})
    assert after.parse("a.py") is views[0]
    assert after.parse("b.py").source.text == "import numpy\n"
    assert before.parse("b.py").source.text == "import torch\n"


def test_a_shared_view_knows_what_names_mean_in_the_state_that_asks(tmp_path: Path) -> None:
    (tmp_path / "compat.py").write_text("from torch.jit import script\n")
    (tmp_path / "user.py").write_text("import compat\n\ncompat.script(f)\n")
    before = Project(tmp_path, ("compat.py", "user.py"))
    after = before.with_texts({"compat.py": SourceText("from torch import compile as script\n")})
    targets = frozenset({"torch.jit.script"})
    for state, number in ((before, 1), (after, 0), (before, 1)):
        assert len(state.parse("user.py").uses(targets, state.translate)) == number
