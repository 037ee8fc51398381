"""A pattern that is compiled when it is used does what a compiled one does."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re

import pytest

import torchlift
import torchlift.migrate
import torchlift.rules
from torchlift.lazy_pattern import lazy_pattern

ELSEWHERE = tuple(
    f"torchlift.{name}"
    for name in """__main__ at_start convert doctor migrate.verification.inside record server survey testing""".split()
)
"""Other engines, and what other processes run by its path."""


def test_it_matches_searches_and_substitutes_as_a_compiled_pattern_does() -> None:
    late, compiled = lazy_pattern(r"(?P<word>\w+)=(\d+)", re.ASCII), re.compile(r"(?P<word>\w+)=(\d+)", re.ASCII)
    text = "a=1, bc=22"
    for _ in range(2):  # before it is compiled, and after
        assert [one.groups() for one in late.finditer(text)] == [one.groups() for one in compiled.finditer(text)]
        assert late.sub("x", text) == compiled.sub("x", text) and late.findall(text) == compiled.findall(text)
        assert late.fullmatch(text) is None and late.match(text, 5)
    assert (late.pattern, late.flags, late.groups, late.groupindex) == (
        compiled.pattern, compiled.flags, compiled.groups, compiled.groupindex,
    )  # fmt: skip
    assert lazy_pattern(rb"\w").findall(b"a b") == [b"a", b"b"]


def test_a_pattern_that_is_wrong_says_so_on_its_first_use() -> None:
    with pytest.raises(re.error):
        lazy_pattern("(").match("a")


def test_it_can_be_sent_to_another_process_used_or_not() -> None:
    late = lazy_pattern("a+")
    assert pickle.loads(pickle.dumps(late)).findall("aab") == ["aa"]
    assert late.findall("aab") == ["aa"]
    assert pickle.loads(pickle.dumps(late)).findall("aab") == ["aa"]


def test_every_pattern_of_the_ground_the_rules_and_migrate_compiles() -> None:
    found = 0
    for package in (torchlift, torchlift.rules, torchlift.migrate):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.startswith(ELSEWHERE):
                continue
            for value in vars(importlib.import_module(module.name)).values():
                if type(value).__name__ == "lazy_pattern":
                    re.compile(
                        value.pattern, value.flags & ~re.UNICODE if isinstance(value.pattern, bytes) else value.flags
                    )
                    found += 1
    assert found > 200
