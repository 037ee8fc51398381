"""Every example of every rule: found or not, rewritten as shown, and doing the same under torch afterwards."""

from __future__ import annotations

import pytest
from noted_proofs import compared
from noted_words import problem_with

from torchlift.authoring.completeness import gaps_in
from torchlift.authoring.trial import try_example
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Rule
from torchlift.testing import FreshProcesses

each_rule = pytest.mark.parametrize("rule", all_rules().values(), ids=all_rules())


@each_rule
def test_the_examples_of_a_rule_hold(rule: Rule, processes: FreshProcesses, pytestconfig: pytest.Config) -> None:
    tried = [try_example(rule, example, processes=processes, compare=compared) for example in rule.examples]
    assert {one.example.why: one.problems for one in tried if one.problems} == {}
    assert [one.not_run for one in tried if one.not_run is not None] == []
    told = problem_with(rule.code, "\n".join(f"== {one.example.why}\n{one.said}" for one in tried if one.said))
    assert told is None or pytestconfig.getoption("prove"), told


@each_rule
def test_nothing_is_missing_from_a_rule(rule: Rule) -> None:
    assert gaps_in(rule) == []
