"""Findings about TorchScript that stays because the user says so: a note for each artifact takes the place of them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torchlift.finding import Finding, Safety, Severity
from torchlift.project import Project
from torchlift.rules.torchscript.facts.foreign_readers import foreign_readers
from torchlift.torchscript_intent import TorchScriptIntent

_ROOTS = frozenset({"TL101", "TL102", "TL104", "TL105", "TL106", "TL107"})
_READERS = frozenset({"TL103"})
# What goes on as long as TorchScript does; other findings of the family are about changes that break code today.
_STAY = _ROOTS | _READERS | {f"TL{number}" for number in (*range(110, 122), *range(130, 135), 136, 137)}
_MOST_PLACES = 3

Findings = Mapping[str, Sequence[Finding]]


def without_kept(
    findings: Findings, intent: TorchScriptIntent, project: Project
) -> tuple[Findings, tuple[Finding, ...]]:
    """The findings that are reported, by path, and those about TorchScript that stays.

    What stays is what stands in a kept file, or is written to or read from a kept artifact, and what waits for that.
    """
    if intent.support != "keep" and not intent.keep:
        return findings, ()
    about = [finding for found in findings.values() for finding in found if _may_stay(finding)]
    kept = [finding for finding in about if _stays(finding, intent)]
    places = {_place(finding, project) for finding in kept}
    kept += [finding for finding in about if finding.waits_for in places and finding not in kept]
    gone = {id(finding) for finding in kept}
    reported = {path: tuple(item for item in found if id(item) not in gone) for path, found in findings.items()}
    return reported, tuple(sorted(kept, key=Finding.sort_key))


def notes_on(kept: Sequence[Finding], project: Project) -> tuple[str, ...]:
    """A sentence for each artifact that stays, and one about the rest."""
    if not kept:
        return ()
    notes = []
    for artifact in sorted({group.artifact for finding in kept for group in finding.groups if group.artifact}):
        about = [item for item in kept if any(group.artifact == artifact for group in item.groups)]
        written = _listed([_place(item, project) for item in about if item.code in _ROOTS])
        read = _listed([_place(item, project) for item in about if item.code in _READERS])
        ends = [f"written at {written}" if written else "", f"read at {read}" if read else ""]
        ends += [f"{reader.title} reads TorchScript at {reader.place}" for reader in foreign_readers(project)]
        notes.append(f"The artifact `{artifact}` stays TorchScript: {'; '.join(filter(None, ends))}.")
    files = {finding.path for finding in kept}
    are = "finding is" if len(kept) == 1 else "findings are"
    notes.append(
        f"{len(kept)} {are} about TorchScript that stays, as you said, in {_listed(sorted(files))}: not listed, not rewritten."
    )
    return tuple(notes)


def unanswered(left: Iterable[Finding], intent: TorchScriptIntent) -> tuple[str, ...]:
    """A sentence where findings about TorchScript are left that an answer of the user may settle, and there is none."""
    number = sum(_may_stay(finding) and finding.safety is not Safety.SAFE for finding in left)
    if not number or intent.support is not None:
        return ()
    are = "finding is" if number == 1 else "findings are"
    return (
        f"{number} {are} about TorchScript, and nobody said whether the project still supports it: `torchlift plan` shows "
        "what the answer changes, `--torchscript drop` or `--torchscript keep` gives it.",
    )


def _may_stay(finding: Finding) -> bool:
    return finding.code in _STAY and finding.severity is not Severity.ERROR


def _stays(finding: Finding, intent: TorchScriptIntent) -> bool:
    artifacts = (group.artifact for group in finding.groups if group.artifact)
    return intent.keeps(finding.path) or any(map(intent.keeps, artifacts))


def _place(finding: Finding, project: Project) -> str:
    return f"{finding.path}:{project.source(finding.path).location(finding.span.start)[0]}"


def _listed(places: Sequence[str]) -> str:
    shown = ", ".join(places[:_MOST_PLACES])
    return f"{shown} and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else shown
