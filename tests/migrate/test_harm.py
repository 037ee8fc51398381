"""What reports say of the harm of a finding."""

from __future__ import annotations

import pytest

from torchlift.finding import Finding, Severity
from torchlift.migrate.tell.report import harm
from torchlift.migrate.tell.report.harm import Harm, counted, harm_of, harms
from torchlift.rules.rule_index import indexed_rules
from torchlift.source import Span
from torchlift.versions import TorchVersion

KINDS = {
    "what torch lacks": ("TL402", Severity.ERROR, Harm.BREAKS),
    "an error of a rule of one's own": ("ACME100", Severity.ERROR, Harm.OWN),
    "a note of one": ("X100", Severity.INFO, Harm.OWN),
    "an order of parameters that changed": ("TL404", Severity.WARNING, Harm.OTHERWISE),
    "a pin in the way": ("TL309", Severity.WARNING, Harm.OTHERWISE),
    "an option without effect": ("TL439", Severity.WARNING, Harm.OTHERWISE),
    "a deprecated function": ("TL413", Severity.WARNING, Harm.OLD),
    "TorchScript": ("TL117", Severity.WARNING, Harm.OLD),
    "an old name": ("TL401", Severity.WARNING, Harm.OLD),
    "what may matter": ("TL201", Severity.INFO, Harm.TO_KNOW),
}


@pytest.mark.parametrize(("code", "severity", "kind"), KINDS.values(), ids=KINDS)
def test_a_finding_is_of_the_kind_that_its_rule_means(code: str, severity: Severity, kind: Harm) -> None:
    assert harm_of(Finding(code, "a.py", Span(0, 1), "m", severity)) is kind


def test_counts_stand_the_worst_first_and_every_kind_has_words() -> None:
    target = TorchVersion(2, 15)
    assert set(harms(target)) == set(Harm)
    said = counted([Harm.OLD, Harm.BREAKS, Harm.OWN, Harm.OLD], target)
    assert said.startswith("1 cannot work with torch 2.15, 1 by rules of your own, 2 only old")


def test_rules_that_are_told_apart_by_code_are_there_and_say_nothing_themselves() -> None:
    rules = indexed_rules()
    assert all(rules[code].deprecated is None for code in harm._RENAMED)
    assert all(rules[code].deprecated is not None for code in harm._WITHOUT_EFFECT)
