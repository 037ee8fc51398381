"""The release of torch that a finding is about."""

from __future__ import annotations

from torchlift.finding import Finding
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.rule_index import indexed_rules
from torchlift.rules.torchscript.facts.deprecation import DEPRECATED

_NAMED = lazy_pattern(r"\b(?:in|since|of|from) torch (\d+\.\d+)")


def release_of(finding: Finding) -> str | None:
    """The release that removed, changed or deprecated it: as its rule says, else as its message does."""
    rule = indexed_rules().get(finding.code)
    stated = None if rule is None else rule.removed or rule.deprecated
    named = _NAMED.search(finding.message) if stated is None else None
    if named is not None:
        return named[1]
    if stated is None and finding.code.startswith("TL1"):
        stated = DEPRECATED  # what goes with TorchScript
    return f"{stated.major}.{stated.minor}" if stated is not None else None
