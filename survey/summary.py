"""What a survey comes to, in numbers: what the text, the JSON and the page are made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from torchlift.lazy_dataclass import dataclass
from torchlift.survey.data_set import in_order
from torchlift.survey.record import Surveyed

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class ReleaseRow:
    """What one release of torch removes, changes or deprecates: findings, and in how many repositories."""

    release: str
    findings: int
    repositories: int
    safe: int
    review: int
    by_hand: int


@dataclass(frozen=True)
class RuleRow:
    """The same finding across repositories."""

    code: str
    rule: str
    findings: int
    repositories: int


@dataclass(frozen=True)
class MachineRow:
    """Repositories that ask for the same: the newest torch they allow, and what that asks of a machine."""

    newest: str
    build: str
    driver: str
    capability: str
    repositories: tuple[str, ...]


@dataclass(frozen=True)
class NotLookedAt:
    """A repository that was not looked at."""

    name: str
    path: str
    status: str
    problem: str


@dataclass(frozen=True)
class Summary:
    """All of it.

    Attributes:
        repositories, files, findings, safe, review, by_hand: totals.
        releases: by release, oldest first; "" for findings that name none.
        rules: by rule, those in most repositories first.
        machines: by what is asked of machines.
        order: names of repositories, what others require first; those of a circle stand together.
        troubles: repositories that were not looked at.
    """

    schema_version: int
    repositories: int
    files: int
    findings: int
    safe: int
    review: int
    by_hand: int
    releases: tuple[ReleaseRow, ...]
    rules: tuple[RuleRow, ...]
    machines: tuple[MachineRow, ...]
    order: tuple[tuple[str, ...], ...]
    troubles: tuple[NotLookedAt, ...]


def summarised(known: Sequence[Surveyed]) -> Summary:
    """The summary of a survey."""
    seen = [one for one in known if one.status == "looked at"]
    by_release: dict[str, Counter[str]] = {}
    in_release: dict[str, set[str]] = {}
    by_rule: Counter[tuple[str, str]] = Counter()
    in_rule: dict[tuple[str, str], set[str]] = {}
    machines: dict[tuple[str, str, str, str], list[str]] = {}
    for one in seen:
        for finding in one.findings:
            release = finding.release or ""
            by_release.setdefault(release, Counter())[finding.safety] += 1
            in_release.setdefault(release, set()).add(one.path)
            by_rule[finding.code, finding.rule] += 1
            in_rule.setdefault((finding.code, finding.rule), set()).add(one.path)
        needs = one.needs
        if needs.asked:
            key = (needs.newest or "", needs.build or "", needs.driver or "", needs.capability or "")
            machines.setdefault(key, []).append(one.name)
    totals = sum((one for one in by_release.values()), Counter())
    return Summary(
        SCHEMA_VERSION,
        len(known),
        sum(one.files for one in seen),
        totals.total(),
        totals["safe"] + totals["proven"],
        totals["unsafe"],
        totals["manual"],
        tuple(
            ReleaseRow(
                name, one.total(), len(in_release[name]), one["safe"] + one["proven"], one["unsafe"], one["manual"]
            )
            for name, one in sorted(by_release.items(), key=lambda item: _rank(item[0]))
        ),
        tuple(
            RuleRow(code, rule, number, len(in_rule[code, rule]))
            for (code, rule), number in sorted(
                by_rule.items(), key=lambda item: (-len(in_rule[item[0]]), -item[1], item[0])
            )
        ),
        tuple(
            MachineRow(*key, tuple(sorted(names)))
            for key, names in sorted(machines.items(), key=lambda item: _rank(item[0][0]))
        ),
        tuple(tuple(one.name for one in group) for group in in_order(seen)),
        tuple(NotLookedAt(one.name, one.path, one.status, one.problem) for one in known if one.status != "looked at"),
    )


def text(summary: Summary) -> str:
    """The summary for people, ending in a line feed."""
    lines = [
        f"{counted(summary.repositories, 'repository', 'repositories')}, {counted(summary.files, 'file')}: "
        f"{counted(summary.findings, 'finding')}, {summary.safe} safe to fix, {summary.review} to review, {summary.by_hand} by hand."
    ]
    if summary.releases:
        lines += ["", "What breaks, by the release of torch that it names"]
        for row in summary.releases:
            lines.append(
                f"  {row.release or '(none)':>7}  {row.findings:>6} in {counted(row.repositories, 'repository', 'repositories')}"
                f" ({row.safe} safe, {row.review} to review, {row.by_hand} by hand)"
            )
    if summary.rules:
        lines += ["", "The same in most repositories"]
        for one in summary.rules[:10]:
            lines.append(
                f"  {one.code} {one.rule}: {one.findings} in {counted(one.repositories, 'repository', 'repositories')}"
            )
    required = [group for group in summary.order if len(group) > 1]
    if required:
        lines += ["", "Require each other, so they move together"]
        lines += [f"  {', '.join(group)}" for group in required]
    if summary.troubles:
        lines += ["", "Not looked at"]
        lines += [f"  {one.name}: {one.status}. {one.problem}" for one in summary.troubles]
    return "\n".join(lines) + "\n"


def _rank(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part.isdigit())


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 repository`, `2 repositories`."""
    return f"{number} {one if number == 1 else many or one + 's'}"
