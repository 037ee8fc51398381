"""Findings about TorchScript that stays because the user says so: they are not reported, and notes take their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torchlift.finding import Finding, Severity
from torchlift.project import Project
from torchlift.torchscript_intent import TorchScriptIntent

ROOTS = frozenset({"TL101", "TL102", "TL104", "TL105", "TL106", "TL107"})
READERS = frozenset({"TL103"})
# What goes on as long as TorchScript does; other findings of the family are about changes that break code today.
_STAY = ROOTS | READERS | {f"TL{number}" for number in (*range(110, 122), *range(130, 135), 136, 137, 139, 601)}

Findings = Mapping[str, Sequence[Finding]]


def without_kept(
    findings: Findings, intent: TorchScriptIntent, project: Project
) -> tuple[Findings, tuple[Finding, ...]]:
    """The findings that are reported, by path, and those about TorchScript that stays.

    What stays is what stands in a kept file, or is written to or read from a kept artifact, and what waits for that.
    """
    if intent.support != "keep" and not intent.keep:
        return findings, ()
    about = [finding for found in findings.values() for finding in found if may_stay(finding)]
    kept = [finding for finding in about if _stays(finding, intent)]
    places = {place_of(finding, project) for finding in kept}
    kept += [finding for finding in about if finding.waits_for in places and finding not in kept]
    gone = {id(finding) for finding in kept}
    reported = {path: tuple(item for item in found if id(item) not in gone) for path, found in findings.items()}
    return reported, tuple(sorted(kept, key=Finding.sort_key))


def may_stay(finding: Finding) -> bool:
    """Whether a finding is about TorchScript that goes on as it is if the user keeps it."""
    return finding.code in _STAY and finding.severity is not Severity.ERROR


def _stays(finding: Finding, intent: TorchScriptIntent) -> bool:
    artifacts = (group.artifact for group in finding.groups if group.artifact)
    return intent.keeps(finding.path) or any(map(intent.keeps, artifacts))


def place_of(finding: Finding, project: Project) -> str:
    """`path:line` of a finding."""
    return f"{finding.path}:{project.source(finding.path).location(finding.span.start)[0]}"
