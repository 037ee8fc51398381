"""What the doctor found on a machine as CI systems show it: JUnit XML and annotations of GitHub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal

from torchlift.doctor.check import Result
from torchlift.doctor.diagnose import Diagnosed
from torchlift.doctor.examination import Examination
from torchlift.doctor.report.verdict import verdict
from torchlift.doctor.report.words import sentence
from torchlift.lazy_dataclass import dataclass
from torchlift.pipelines import junit
from torchlift.pipelines.github import annotation
from torchlift.pipelines.junit import JunitCase

_BAD = frozenset({"fail", "timeout", "crash", "stuck", "lost"})
_TITLE = "torchlift doctor"


@dataclass(frozen=True)
class SaidInCi:
    """One thing that was looked at.

    Attributes:
        name: id of a check, or of a smoke with its device.
        group: what it belongs to.
        status: as of a `Result`; a warning that counts as a problem is one.
        summary: a sentence.
        text: summary, evidence and what to do, a line each.
    """

    name: str
    group: str
    status: Literal["ok", "note", "warning", "problem", "skipped", "failed"]
    summary: str
    text: str


def said_of(examination: Examination) -> list[SaidInCi]:
    """Everything that was looked at, by group."""
    found = list(_said(examination))
    # The order of groups stays, and each is whole.
    groups = list(dict.fromkeys(each.group for each in found))
    return sorted(found, key=lambda each: groups.index(each.group))


def _said(examination: Examination) -> Iterator[SaidInCi]:
    strict = examination.strict
    if examination.is_plan:
        answer = examination.answer
        summary = sentence(answer.summary if answer is not None else "torchlift could not work out which wheel fits")
        yield SaidInCi("wheel", "plan", "problem" if examination.plan_fails else "ok", summary, summary)
    for finding in examination.findings:
        yield from _checked(finding, strict)
    for result in examination.project.results if examination.project is not None else ():
        yield _told("project", "project", result, strict)
    for failure in examination.facts.failures:
        text = f"{failure.probe}: {failure.outcome}, {failure.detail}"
        yield SaidInCi(failure.probe, "not known", "note", text, text)
    smokes = examination.smokes
    if smokes is None:
        return
    if smokes.problem is not None:
        text = f"No smoke could run: {smokes.problem}."
        yield SaidInCi(
            "import torch", "smokes", "problem", text, "\n".join([text, *([smokes.remedy] if smokes.remedy else [])])
        )
    for each in smokes.results:
        more = (each.cause, each.remedy, each.output)
        yield said_of_smoke(
            f"{each.id} on {each.device}",
            "smokes",
            each.outcome,
            each.reason,
            each.title,
            more,
            each.details.get("warning"),
        )


def _checked(finding: Diagnosed, strict: bool) -> Iterator[SaidInCi]:
    yield _told(finding.check.id, finding.check.group, finding.result, strict)
    for below in finding.consequences:
        yield from _checked(below, strict)


def _told(name: str, group: str, result: Result, strict: bool) -> SaidInCi:
    lines = [sentence(result.summary)]
    for item in result.evidence:
        lines.append(f"{item.what}: {item.seen}" + (f"; needed: {item.needed}" if item.needed is not None else ""))
    if result.remedy is not None:
        lines.append(
            f"What to do: {result.remedy.text}" + (f": {result.remedy.command}" if result.remedy.command else "")
        )
    status = "problem" if strict and result.status == "warning" else result.status
    return SaidInCi(name, group, status, lines[0], "\n".join(lines))


def said_of_smoke(
    name: str, group: str, outcome: str, reason: str | None, title: str, more: Iterable[str | None], warned: object
) -> SaidInCi:
    """What became of a smoke.

    Args:
        name: its id and its device.
        group: what it belongs to.
        outcome: as of a `SmokeResult`, as are `reason` and `title`.
        reason: why it is no plain success.
        title: what works when it passes.
        more: cause, remedy and output, as far as there are any.
        warned: whether something is worth a warning although it passed.
    """
    summary = (reason or title).strip()
    status: Literal["ok", "warning", "problem", "skipped"] = (
        "problem" if outcome in _BAD else "skipped" if outcome == "skip" else "warning" if warned else "ok"
    )
    return SaidInCi(name, group, status, summary, "\n".join([summary, *filter(None, more)]))


def as_junit(said: Iterable[SaidInCi]) -> str:
    """JUnit XML: a suite a group, a case for all that was looked at; problems fail, defects of torchlift are errors."""
    suites = [(group, [_case(each) for each in found]) for group, found in groupby(said, key=lambda each: each.group)]
    return junit.document(suites, JunitCase("doctor", "torchlift"))


def _case(said: SaidInCi) -> JunitCase:
    outcome = {"problem": "failure", "failed": "error", "skipped": "skipped"}.get(said.status)
    return JunitCase(said.name, said.group, outcome, said.summary, said.text)  # type: ignore[arg-type]


def as_annotations(said: Iterable[SaidInCi], verdict: str) -> str:
    """Workflow commands of GitHub: the verdict, then what is wrong or worth knowing, the worst first."""
    levels: dict[str, Literal["error", "warning", "notice"]] = {
        "problem": "error", "failed": "error", "warning": "warning", "note": "notice",
    }  # fmt: skip
    lines = [annotation("notice", {"title": _TITLE}, verdict)]
    for status, level in levels.items():
        lines += [
            annotation(level, {"title": f"{_TITLE}: {each.group}, {each.name}"}, each.text)
            for each in said
            if each.status == status
        ]
    return "".join(lines)


def render(examination: Examination, form: Literal["github", "junit"]) -> str:
    """One machine."""
    said = said_of(examination)
    return as_junit(said) if form == "junit" else as_annotations(said, verdict(examination))
