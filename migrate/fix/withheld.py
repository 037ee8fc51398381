"""Fixes of a project, as it was read, that are left out, recognised again after others were applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from torchlift.finding import DroppedFix, Finding
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.result import FileOutcome
from torchlift.source import SourceText

if TYPE_CHECKING:
    from torchlift.migrate.fix.settle import Held

Texts = Callable[[str], tuple[SourceText, SourceText]]
"""A file's text as it was read, and now."""


@dataclass(frozen=True)
class Withheld:
    """Fixes to leave out.

    Attributes:
        dropped: findings of the project as it was read, by path, with what stands against their fixes.
    """

    dropped: Mapping[str, Sequence[tuple[Finding, DroppedFix]]] = field(default_factory=dict)

    def held(self, found: Mapping[str, Sequence[Finding]], texts: Texts) -> Held:
        """Those of the findings `found` now whose fixes are left out, with the reason as `settle` wants it."""
        return {
            (path, finding.sort_key()): dropped.sentence
            for path, pairs in self.dropped.items()
            for finding, dropped in _recognised(pairs, found.get(path, ()), *texts(path))
        }

    def marked(self, outcome: FileOutcome) -> FileOutcome:
        """The outcome with what stands against their fixes at the findings that are left."""
        if outcome.path not in self.dropped:
            return outcome
        known = {
            finding.sort_key(): dropped
            for finding, dropped in _recognised(self.dropped[outcome.path], outcome.left, outcome.source, outcome.shown)
        }
        left = tuple(replace(finding, dropped=known.get(finding.sort_key())) for finding in outcome.left)
        return replace(outcome, left=left)


def _recognised(
    pairs: Sequence[tuple[Finding, DroppedFix]], found: Sequence[Finding], before: SourceText, after: SourceText
) -> list[tuple[Finding, DroppedFix]]:
    """Findings in the text `after` that are one of `pairs`, which are in the text `before`."""
    if before.text == after.text:
        known = {finding.sort_key(): dropped for finding, dropped in pairs}
        return [(finding, known[finding.sort_key()]) for finding in found if finding.sort_key() in known]
    from torchlift.migrate.fix.line_moves import LineMoves

    lines = LineMoves(before, after)
    of_code: dict[str, list[tuple[Finding, DroppedFix]]] = {}
    for old, dropped in pairs:
        of_code.setdefault(old.code, []).append((old, dropped))
    same = []
    for finding in found:
        line, column = after.location(finding.span.start)
        stood = lines.before(line)
        near = [pair for pair in of_code.get(finding.code, ()) if before.location(pair[0].span.start)[0] in stood]
        if lines.is_kept(line):
            here = [dropped for old, dropped in near if before.location(old.span.start)[1] == column]
        else:
            # In a line that other fixes changed the same text is the same place; one that cannot be told is left out, too.
            text = after.slice(finding.span)
            here = [dropped for old, dropped in near if before.slice(old.span) == text]
            here = here or [dropped for _, dropped in near]
        if here:
            same.append((finding, here[0]))
    return same
