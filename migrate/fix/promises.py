"""Whether fixes did what they promised: every finding said to be fixed is gone, and nothing new was brought in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from torchlift.finding import Finding, Severity
from torchlift.migrate.fix.line_moves import LineMoves
from torchlift.source import SourceText

Findings = Mapping[str, Sequence[Finding]]
Texts = Callable[[str], tuple[SourceText, SourceText]]
"""A file's text before the fixes, and after."""


def broken_promise(before: Findings, after: Findings, chosen: Findings, texts: Texts) -> tuple[str, str] | None:
    """The first file in which something else came of the fixes of `chosen`, and what; None if there is none."""
    for path, findings in chosen.items():
        fixed = _count(finding for finding in findings if not (finding.fix and finding.fix.still_reported))
        # What is only remarked on may be in new code, too: it is no defect of it.
        known = [finding for finding in after[path] if finding.severity is not Severity.INFO or finding.code in fixed]
        old, new = _count(before[path]), _count(known)
        # What a fix leaves without work, a suppression or an option, is a finding of the next round.
        suspected = {code for code in {*fixed, *new} - {"TL122", "TL901"} if new[code] > old[code] - fixed[code]}
        if not suspected:
            continue
        revealed = _revealed(before[path], [finding for finding in known if finding.code in suspected], *texts(path))
        for code in sorted(suspected):
            if new[code] - revealed[code] > old[code] - fixed[code]:
                return path, f"after the fixes {code} is still reported"
    return None


def _count(findings: Iterable[Finding]) -> Counter[str]:
    return Counter(finding.code for finding in findings)


def _revealed(before: Sequence[Finding], after: Sequence[Finding], old: SourceText, new: SourceText) -> Counter[str]:
    """How many findings of each code are about text that stood there before and of which nothing was said.

    An import that a fix adds may give a name its meaning, in code that the fix does not touch.
    """
    moves = LineMoves(old, new)
    lines = Counter((finding.code, old.location(finding.span.start)[0]) for finding in before)
    said = Counter((finding.code, old.slice(finding.span)) for finding in before)
    revealed: Counter[str] = Counter()
    for finding in after:
        code, text = finding.code, new.slice(finding.span)
        now = new.location(finding.span.start)[0]
        if not moves.is_kept(now):
            revealed[code] += old.text.count(text) > said[code, text]
        elif lines[code, line := moves.before(now)[0]]:
            lines[code, line] -= 1
        else:
            revealed[code] += 1
    return revealed
