"""The search for groups of fixes that make a command fail, on commands that are made up."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import exhaustive
import pytest

from torchlift.migrate.verification.complaint import Complaint
from torchlift.migrate.verification.search import Groups, OutOfRuns, SearchEnd, Units, search

Fails = Callable[[Groups], bool]


def complaint(name: str, *, alone: bool = True) -> Complaint:
    return Complaint(name, name, "it fails", tests=(name,) if alone else ())


class MadeUp:
    """Tests of which each fails with some groups; `whole` and `again` are counted."""

    def __init__(
        self,
        tests: dict[str, Fails],
        pointing: dict[str, Units] | None = None,
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

    def suspects(self, groups: Groups, known: Complaint) -> list[Units]:
        found = [unit & groups for unit in self.pointing.get(known.key, ())]
        return [found] if any(found) else []


def groups(number: int) -> Groups:
    return frozenset(range(number))


def one_by_one(*members: int) -> Units:
    return [frozenset({member}) for member in sorted(set(members))]


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
    pointed = MadeUp({"a": lambda on: 90 in on}, {"a": one_by_one(90)})
    assert tried(blind, 128).kept == tried(pointed, 128).kept == groups(128) - {90}
    assert pointed.counted == 5 < blind.counted


def test_a_failure_that_points_at_the_wrong_group_costs_it_nothing() -> None:
    verdict = tried(MadeUp({"a": lambda on: 5 in on}, {"a": one_by_one(2)}), 20)
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


@pytest.mark.parametrize("alone", [True, False], ids=["tests of their own", "one exit status"])
@pytest.mark.parametrize("seed", range(5))
def test_groups_of_which_each_keeps_the_failure_alive_are_all_found(seed: int, alone: bool) -> None:
    chance = random.Random(seed)
    bad = frozenset(chance.sample(range(32), chance.randint(2, 12)))
    trials = MadeUp({"a": lambda on: bool(bad & on)}, alone=alone)
    verdict = tried(trials, 32)
    assert verdict.dropped.keys() == bad
    assert trials.counted <= 12 + 6 * len(bad)


def test_neighbours_of_a_bad_group_are_tried_first_where_one_was_not_enough() -> None:
    bad = frozenset(range(8, 20))
    trials = MadeUp({"a": lambda on: bool(bad & on)}, alone=False)
    assert tried(trials, 32).kept == groups(32) - bad
    assert trials.counted <= 27


def test_groups_that_are_alike_are_tried_as_one() -> None:
    bad = frozenset({3, 5, 20, 21, 22, 30})
    pointing = {"a": [frozenset({3, 5}), frozenset({20, 21, 22, 30})]}
    trials = MadeUp({"a": lambda on: bool(bad & on)}, pointing)
    assert tried(trials, 32).kept == groups(32) - bad
    assert trials.counted == 15


def test_groups_that_only_seem_to_be_alike_are_told_apart() -> None:
    trials = MadeUp({"a": lambda on: 5 in on}, {"a": [frozenset({3, 4, 5, 6})]})
    assert tried(trials, 32).dropped.keys() == {5}


@pytest.mark.parametrize("runs", range(4, 40, 5))
def test_where_the_runs_end_what_was_found_of_several_stays_dropped(runs: int) -> None:
    bad = frozenset(range(10))
    verdict = tried(MadeUp({"a": lambda on: bool(bad & on)}, {"a": one_by_one(*range(16))}, runs=runs), 32)
    assert verdict.kept == groups(32) - bad if runs >= 39 else verdict.kept >= groups(32) - groups(16)
    assert verdict.dropped.keys() <= bad <= verdict.dropped.keys() | verdict.undecided


def test_a_test_that_is_broken_by_several_and_fails_now_and_then_blames_few_others() -> None:
    chance = random.Random(2)
    blamed, searches = 0, exhaustive.tried(100, 3000)
    for _ in range(searches):
        verdict = tried(MadeUp({"a": lambda on: bool({5, 6, 14} & on) or chance.random() < 0.05}), 20)
        blamed += not {5, 6, 14} >= verdict.dropped.keys()
    assert blamed <= searches / 20


def test_what_fails_once_and_not_again_blames_nobody() -> None:
    answers = iter([True])
    verdict = tried(MadeUp({"a": lambda on: next(answers, False)}), 20)
    assert verdict.kept == groups(20)
    assert verdict.unstable == ("a",)


def test_what_fails_in_two_runs_of_the_whole_command_and_not_alone_is_asked_about_again() -> None:
    answers = iter([True, False, True])
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
    trials = MadeUp({"a": lambda on: 90 in on, "b": lambda on: 3 in on}, {"b": one_by_one(3)}, runs=10)
    verdict = tried(trials, 128)
    assert trials.counted == 10
    assert verdict.dropped.keys() == {3}
    assert verdict.undecided and 90 in verdict.undecided
    assert verdict.kept == groups(128) - {3} - verdict.undecided


def test_nothing_is_kept_if_the_last_run_fails() -> None:
    verdict = tried(MadeUp({"a": bool}, {"a": one_by_one(3)}, runs=4), 20)
    assert verdict.kept == frozenset()
    assert verdict.broken


@pytest.mark.parametrize("seed", range(exhaustive.tried(40, 1000)))
def test_whatever_is_bad_no_good_group_is_dropped_and_no_bad_one_kept(seed: int) -> None:
    chance = random.Random(seed)
    number = chance.randint(1, 40)
    bad = frozenset(chance.sample(range(number), min(number, chance.randint(0, 5))))
    tests: dict[str, Fails] = {f"of {one}": lambda on, one=one: one in on for one in bad}  # type: ignore[misc]
    tests["of any"] = lambda on: bool(bad & on)
    pointing = {f"of {one}": one_by_one(one, chance.randrange(number)) for one in bad if chance.random() < 0.6}
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
