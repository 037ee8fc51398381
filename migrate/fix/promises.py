"""Whether fixes did what they promised: every finding said to be fixed is gone, and nothing new was brought in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from torchlift.finding import Finding, Severity

Findings = Mapping[str, Sequence[Finding]]


def broken_promise(before: Findings, after: Findings, chosen: Findings) -> tuple[str, str] | None:
    """The first file in which something else came of the fixes of `chosen`, and what; None if there is none."""
    for path, findings in chosen.items():
        fixed = _count(finding for finding in findings if not (finding.fix and finding.fix.still_reported))
        # What is only remarked on may be in new code, too: it is no defect of it.
        known = (finding for finding in after[path] if finding.severity is not Severity.INFO or finding.code in fixed)
        old, new = _count(before[path]), _count(known)
        # What a fix leaves without work, a suppression or an option, is a finding of the next round.
        for code in sorted({*fixed, *new} - {"TL122", "TL901"}):
            if new[code] > old[code] - fixed[code]:
                return path, f"after the fixes {code} is still reported"
    return None


def _count(findings: Iterable[Finding]) -> Counter[str]:
    return Counter(finding.code for finding in findings)
