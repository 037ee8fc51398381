"""Who a finding is when lines move: by rule, file and the text of its line, never by the line's number."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from torchlift.finding import Finding
from torchlift.source import SourceText


def identities(findings: Iterable[tuple[Finding, SourceText]]) -> list[str]:
    """One for each finding, in the same order: 32 hexadecimal digits, no two alike.

    Lines that move, or get another indentation, leave it as it was. Findings that nothing else tells apart are counted in the order
    of their places.

    Args:
        findings: each with the text that its span refers to.
    """
    listed = list(findings)
    seen: Counter[tuple[str, str, str]] = Counter()
    found = [""] * len(listed)
    for index in sorted(range(len(listed)), key=lambda index: listed[index][0].sort_key()):
        finding, source = listed[index]
        what = (finding.code, finding.path, _line(finding, source))
        said = "\0".join((*what, str(seen[what])))
        seen[what] += 1
        found[index] = hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return found


def what_it_names(finding: Finding, source: SourceText) -> str:
    """The rule, the file and the words that a finding is about, as 16 hexadecimal digits: what stays when its line changes.

    Alike findings of one file have the same. What stands in brackets behind the words does not count: another rule may rewrite it.
    """
    text = source.text[finding.span.start : finding.span.end]
    head = text.partition("(")[0].split() or text.split()
    said = "\0".join((finding.code, finding.path, " ".join(head)))
    return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _line(finding: Finding, source: SourceText) -> str:
    """The line that a finding begins on, blanks aside."""
    start = min(finding.span.start, len(source.text))
    begin = max(source.text.rfind(end, 0, start) for end in "\r\n") + 1
    ends = [end for end in (source.text.find(sign, start) for sign in "\r\n") if end >= 0]
    return " ".join(source.text[begin : min(ends, default=len(source.text))].split())
