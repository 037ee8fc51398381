"""A survey as one page for a browser: what breaks when, what is automatic, what machines are needed, what to migrate first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlift import __version__
from torchlift.page.effort import CSS, bar
from torchlift.page.frame import page, section
from torchlift.page.markup import Child, element, sentence, table
from torchlift.survey.record import Surveyed
from torchlift.survey.summary import Summary, counted


def render(known: Sequence[Surveyed], summary: Summary) -> str:
    """The whole page."""
    repositories = counted(summary.repositories, "repository", "repositories")
    findings = counted(summary.findings, "finding")
    automatic = f"{summary.safe} safe to fix, {summary.review} to review, {summary.by_hand} by hand"
    verdict = f"{repositories}: {findings}, {automatic}"
    status = "problem" if summary.troubles else "warning" if summary.findings else "ok"
    head = element("div", bar(summary.safe, summary.review, summary.by_hand))
    return page(
        "torchlift survey", verdict, status, head, _body(known, summary), foot=f"torchlift {__version__}", css=CSS
    )


def _body(known: Sequence[Surveyed], summary: Summary) -> Iterator[Child]:
    yield from _what_breaks(summary)
    yield from _what_to_prepare(summary)
    yield section(
        "repositories",
        "Repositories",
        table(
            "All repositories",
            ("repository", "files", "findings", "safe", "to review", "by hand", "share", "TorchScript", "lowest torch"),
            (_row(one) for one in known if one.status == "looked at"),
        ),
    )
    if summary.troubles:
        yield section(
            "troubles",
            "Not looked at",
            table(
                "Repositories that were not looked at",
                ("repository", "status", "why"),
                ((one.name, one.status, sentence(one.problem)) for one in summary.troubles),
            ),
        )


def _what_breaks(summary: Summary) -> Iterator[Child]:
    yield section(
        "releases",
        "What breaks when",
        table(
            "Findings by the release of torch that they name",
            ("torch", "findings", "repositories", "safe", "to review", "by hand", "share"),
            (
                (
                    row.release or "none named", str(row.findings), str(row.repositories), str(row.safe), str(row.review),
                    str(row.by_hand), bar(row.safe, row.review, row.by_hand),
                )
                for row in summary.releases
            ),
        ),
    )  # fmt: skip
    yield section(
        "rules",
        "The same across repositories",
        table(
            "Rules by the number of repositories",
            ("rule", "repositories", "findings"),
            ((f"{row.code} {row.rule}", str(row.repositories), str(row.findings)) for row in summary.rules),
        ),
    )


def _what_to_prepare(summary: Summary) -> Iterator[Child]:
    yield section(
        "machines",
        "What they ask of machines",
        element("p", "The newest torch that the requirements allow, in the build that its index gives on Linux."),
        table(
            "Machines",
            ("torch", "build", "driver, at least", "GPUs, at least", "repositories"),
            (
                (row.newest or "not known", row.build, row.driver, row.capability, f"{len(row.repositories)}: {_some(row.repositories)}")
                for row in summary.machines
            ),
        ),
    )  # fmt: skip
    yield section(
        "order",
        "In which order",
        element("p", "What others here require comes first; what requires each other moves together."),
        table(
            "In this order",
            ("", "repositories"),
            ((str(place), ", ".join(group)) for place, group in enumerate(summary.order, 1)),
        ),
    )


def _row(one: Surveyed) -> tuple[Child, ...]:
    safe, review, hand = one.counted("safe", "proven"), one.counted("unsafe"), one.counted("manual")
    plan = f"{one.plan.roots} roots, {one.plan.hints} hints" if one.plan.roots or one.plan.hints else ""
    found = len(one.findings)
    return (
        one.name,
        str(one.files),
        str(found),
        str(safe),
        str(review),
        str(hand),
        bar(safe, review, hand),
        plan,
        one.lowest,
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
