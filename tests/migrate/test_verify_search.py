"""The search for groups of fixes that make a command fail, on commands that are made up."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import exhaustive
import pytest

from torchlift.migrate.verification.complaint import Complaint
from torchlift.migrate.verification.search import Groups, OutOfRuns, SearchEnd, search

Fails = Callable[[Groups], bool]


def complaint(name: str, *, alone: bool = True) -> Complaint:
    return Complaint(name, name, "it fails", tests=(name,) if alone else ())


class MadeUp:
    """Tests of which each fails with some groups; `whole` and `again` are counted."""

    def __init__(
        self,
        tests: dict[str, Fails],
        pointing: dict[str, Groups] | None = None,
        runs: int = 1000,
        alone: bool = True,
        only_whole: Sequence[str] = (),
        otherwise: Fails = lambda on: False,
    ) -> None:
        self.tests = tests
        self.pointing = pointing or {}
        self.runs = runs
        self.alone = alone
        self.only_whole = only_whole
        self.otherwise = otherwise
        self.counted = 0

    def whole(self, groups: Groups) -> list[Complaint]:
        if self.counted >= self.runs - 1:
            raise OutOfRuns
        return self.last(groups)

    def last(self, groups: Groups) -> list[Complaint]:
        self.counted += 1
        return [complaint(name, alone=self.alone) for name, fails in self.tests.items() if fails(groups)]

    def again(self, groups: Groups, about: Sequence[Complaint]) -> list[Complaint]:
        if not about:
            return []
        heard = {found.key for found in self.whole(groups)}
        if self.otherwise(groups) and groups:
            return [replace(known, by="the import") for known in about]
        by_itself = all(known.tests for known in about)
        return [known for known in about if known.key in heard and not (by_itself and known.key in self.only_whole)]

    def suspects(self, groups: Groups, known: Complaint) -> list[Groups]:
        found = self.pointing.get(known.key, frozenset()) & groups
        return [found] if found else []


def groups(number: int) -> Groups:
    return frozenset(range(number))


def tried(trials: MadeUp, number: int, *, careful: bool = False) -> SearchEnd:
    return search(groups(number), trials, careful=careful)


def test_without_a_failure_one_run_of_the_whole_command_is_enough() -> None:
    trials = MadeUp({"a": lambda on: False})
    assert tried(trials, 20).kept == groups(20)
    assert trials.counted == 1


@pytest.mark.parametrize("alone", [True, False], ids=["tests of their own", "one exit status"])
def test_each_bad_group_is_found_among_many(alone: bool) -> None:
    trials = MadeUp({"a": lambda on: 3 in on, "b": lambda on: 17 in on, "c": lambda on: 0 in on}, alone=alone)
    verdict = tried(trials, 20)
    assert verdict.kept == groups(20) - {0, 3, 17}
    assert {group: found.by for group, found in verdict.dropped.items()} == {0: "c", 3: "a", 17: "b"}


def test_what_a_failure_points_at_is_tried_first() -> None:
    blind = MadeUp({"a": lambda on: 90 in on})
    pointed = MadeUp({"a": lambda on: 90 in on}, {"a": frozenset({90})})
    assert tried(blind, 128).kept == tried(pointed, 128).kept == groups(128) - {90}
    assert pointed.counted == 5 < blind.counted


def test_a_failure_that_points_at_the_wrong_group_costs_it_nothing() -> None:
    verdict = tried(MadeUp({"a": lambda on: 5 in on}, {"a": frozenset({2})}), 20)
    assert verdict.kept == groups(20) - {5}


@pytest.mark.parametrize("bad", range(1, 20))
def test_groups_that_need_others_lose_none_that_is_well(bad: int) -> None:
    """Without the group 19 every other one makes the import fail."""
    verdict = tried(MadeUp({"a": lambda on: bad in on}, otherwise=lambda on: bool(on) and 19 not in on), 20)
    assert bad not in verdict.kept
    assert verdict.dropped.keys() <= {bad, 19}
    assert verdict.kept == groups(20) - {bad} or verdict.undecided or bad == 19


def test_two_groups_that_fail_together_only_lose_one() -> None:
    verdict = tried(MadeUp({"a": lambda on: {4, 11} <= on}), 20)
    assert len(verdict.kept) == 19
    assert not {4, 11} <= verdict.kept


def test_what_fails_once_and_not_again_blames_nobody() -> None:
    answers = iter([True])
    verdict = tried(MadeUp({"a": lambda on: next(answers, False)}), 20)
    assert verdict.kept == groups(20)
    assert verdict.unstable == ("a",)


def test_what_fails_alone_without_any_fix_and_passes_among_the_others_is_sought_in_the_whole_command() -> None:
    verdict = tried(MadeUp({"a": lambda on: 7 in on}, only_whole=("a",)), 20)
    assert verdict.kept == groups(20) - {7}


def test_what_fails_without_any_fix_too_blames_nobody() -> None:
    answers = iter([False])
    verdict = tried(MadeUp({"a": lambda on: next(answers, True)}), 20)
    assert verdict.kept == groups(20) or verdict.dropped == {}


def test_with_too_few_runs_what_is_undecided_is_left_out_and_the_last_run_proves_the_rest() -> None:
    trials = MadeUp({"a": lambda on: 90 in on, "b": lambda on: 3 in on}, {"b": frozenset({3})}, runs=10)
    verdict = tried(trials, 128)
    assert trials.counted == 10
    assert verdict.dropped.keys() == {3}
    assert verdict.undecided and 90 in verdict.undecided
    assert verdict.kept == groups(128) - {3} - verdict.undecided


def test_nothing_is_kept_if_the_last_run_fails() -> None:
    verdict = tried(MadeUp({"a": bool}, {"a": frozenset({3})}, runs=4), 20)
    assert verdict.kept == frozenset()
    assert verdict.broken


@pytest.mark.parametrize("seed", range(exhaustive.tried(40, 1000)))
def test_whatever_is_bad_no_good_group_is_dropped_and_no_bad_one_kept(seed: int) -> None:
    chance = random.Random(seed)
    number = chance.randint(1, 40)
    bad = frozenset(chance.sample(range(number), min(number, chance.randint(0, 5))))
    tests: dict[str, Fails] = {f"of {one}": lambda on, one=one: one in on for one in bad}  # type: ignore[misc]
    tests["of any"] = lambda on: bool(bad & on)
    pointing = {f"of {one}": frozenset({one, chance.randrange(number)}) for one in bad if chance.random() < 0.6}
    verdict = tried(MadeUp(tests, pointing, alone=chance.random() < 0.7), number, careful=chance.random() < 0.3)
    assert verdict.kept == groups(number) - bad
    assert verdict.dropped.keys() == bad


def test_a_test_that_fails_now_and_then_blames_almost_nobody_if_that_is_known() -> None:
    """One that fails every third time, and happened to pass in the runs without fixes."""
    chance = random.Random(1)
    blamed = 0
    searches = exhaustive.tried(200, 5000)
    for _ in range(searches):
        trials = MadeUp({"flaky": lambda on: chance.random() < 0.33, "bad": lambda on: 5 in on})
        verdict = tried(trials, 20, careful=True)
        assert 5 in verdict.dropped
        blamed += len(verdict.dropped) > 1
    assert blamed <= searches / 50
