"""Markdown for a pull request, an issue or `$GITHUB_STEP_SUMMARY`: the verdict, a table of rules, and each file folded away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from torchlift.finding import Safety, Severity
from torchlift.migrate.tell.report.formats.listing import ListedFinding, Trouble
from torchlift.terminal.markdown import code, prose, sentences, table

_MOST_CHARACTERS = 900_000
"""GitHub refuses step summaries beyond 1 MiB: docs.github.com, "Job summaries" (read 2026-11-23)."""

_FIXES = {
    Safety.SAFE: "safe",
    Safety.PROVEN: "proven",
    Safety.UNSAFE: "needs review",
    Safety.MANUAL: "by hand",
}


def render(entries: Sequence[ListedFinding], troubles: Sequence[Trouble], verdict: str, harm: str) -> str:
    """The whole page; what does not fit on a page of GitHub is counted."""
    lines = [f"### torchlift: {sentences(verdict)}", ""]
    if harm:
        lines += [f"{sentences(harm)}.", ""]
    if troubles:
        lines += ["**Could not be done**", "", *(f"- {code(t.path)}: {sentences(t.text)}" for t in troubles), ""]
    if entries:
        lines += [*table(("rule", "", "findings", "fix"), _rows(entries)), ""]
    length = sum(map(len, lines))
    files = [list(found) for _, found in groupby(entries, key=lambda entry: entry.path)]
    for number, found in enumerate(files):
        part = _file(found)
        length += sum(map(len, part))
        if length > _MOST_CHARACTERS:
            lines += [f"{len(files) - number} more files are not shown here.", ""]
            break
        lines += part
    return "\n".join(lines)


def _rows(entries: Sequence[ListedFinding]) -> Iterator[tuple[str, ...]]:
    order = list(Severity)
    worst: dict[str, int] = {}
    for entry in entries:
        worst[entry.code] = min(order.index(entry.severity), worst.get(entry.code, len(order)))
    counted = Counter((entry.code, entry.name) for entry in entries).most_common()
    for (rule, name), number in sorted(counted, key=lambda row: worst[row[0][0]]):
        kinds = Counter(entry.safety for entry in entries if entry.code == rule)
        fixes = ", ".join(f"{kinds[safety]} {word}" for safety, word in _FIXES.items() if kinds[safety])
        address = next((entry.url for entry in entries if entry.code == rule), None)
        yield f"[{rule}](<{address}>)" if address else rule, prose(name), str(number), fixes


def _file(found: Sequence[ListedFinding]) -> list[str]:
    lines = ["<details>", f"<summary>{prose(found[0].path)}: {len(found)}</summary>", ""]
    for entry in found:
        lines.append(f"- {entry.line}, **{entry.code}** {sentences(entry.message)}")
        if entry.advice:
            lines.append(f"  - {sentences(entry.advice)}")
    return [*lines, "", "</details>", ""]
