"""What a finding means for whoever moves to a newer torch: what reports say first, and group by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum

from torchlift.finding import Finding, Severity
from torchlift.rules.rule_index import indexed_rules
from torchlift.versions import TorchVersion

# Rules about names of all ages, whose warnings are about what works as before under an old, private or deprecated name.
_RENAMED = frozenset({"TL206", "TL250", "TL401", "TL403", "TL426", "TL432", "TL603"})
# Deprecated long ago, and without its old effect since then.
_WITHOUT_EFFECT = frozenset({"TL439"})


class Harm(Enum):
    """The kinds of harm, the worst first."""

    BREAKS = "breaks"
    OWN = "own"
    OTHERWISE = "otherwise"
    OLD = "old"
    TO_KNOW = "to-know"


def harm_of(finding: Finding) -> Harm:
    """The kind that a finding is of; what a rule of the project's own means by a severity only its author knows."""
    rule = indexed_rules().get(finding.code)
    if rule is None:
        return Harm.OWN
    if finding.severity is not Severity.WARNING:
        return Harm.BREAKS if finding.severity is Severity.ERROR else Harm.TO_KNOW
    dated = rule.deprecated is not None or finding.code.startswith("TL1")  # TorchScript's rules need not repeat when
    is_old = (dated or finding.code in _RENAMED) and finding.code not in _WITHOUT_EFFECT
    return Harm.OLD if is_old else Harm.OTHERWISE


def harms(target: TorchVersion) -> Mapping[Harm, str]:
    """Each kind in words that follow a number of findings, the worst first."""
    return {
        Harm.BREAKS: f"cannot work with torch {target}",
        Harm.OWN: "by rules of your own",
        Harm.OTHERWISE: "may fail, do something else, or hold the move back",
        Harm.OLD: "only old: deprecated or renamed, and working",
        Harm.TO_KNOW: "to know, or harmful under conditions",
    }


def counted(found: Iterable[Harm], target: TorchVersion) -> str:
    """How many findings are of each kind, the worst first; empty where there are none."""
    counts = Counter(found)
    return ", ".join(f"{counts[harm]} {words}" for harm, words in harms(target).items() if counts[harm])
