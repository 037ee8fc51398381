"""One machine as a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchlift.doctor.check import GROUPS
from torchlift.doctor.examination import Examination
from torchlift.doctor.report import words
from torchlift.doctor.report.alike import alike
from torchlift.doctor.report.page.parts import (
    WORDS,
    bars,
    command,
    finding,
    foot,
    pair_table,
    result_details,
    trouble,
)
from torchlift.doctor.report.rates import pairs_of, rates_of
from torchlift.doctor.report.sheet import machine_lines, status_of, wants_install
from torchlift.doctor.report.verdict import verdict
from torchlift.doctor.smoke.parent.report import SmokeReport
from torchlift.json_records.writing import plain
from torchlift.page.frame import page, section
from torchlift.page.markup import Child, Markup, element, table
from torchlift.wheels.answer import Answer, Choice

_WRONG = ("problem", "failed", "warning")


def render(examination: Examination) -> str:
    """The whole document."""
    facts = examination.facts
    head = element("dl", *_pairs(machine_lines(facts)))
    return page(
        "torchlift doctor",
        verdict(examination),
        status_of(examination),
        head,
        body(examination),
        foot=foot(facts.taken),
    )


def body(examination: Examination) -> Iterator[Child]:
    """What is wrong first, then rates, smokes, what to install, and everything that was checked."""
    wrong = list(_wrong(examination))
    yield section(
        "wrong", "What is wrong", *(wrong or [element("p", "Nothing that torchlift looks for.", class_="ok")])
    )
    notes = [each for each in alike(examination.findings) if each.result.status == "note"]
    if notes:
        yield section("notes", "Worth knowing", *(finding(each) for each in notes))
    if examination.smokes is not None:
        yield from measured([plain(result) for result in examination.smokes.results], examination.smokes.devices)
        yield _smokes(examination.smokes)
    if examination.answer is not None and wants_install(examination):
        yield section("install", "What to install", *_install(examination.answer))
    if examination.findings:
        yield section(
            "all", "Everything that was checked", element("details", element("summary", "Show"), _all(examination))
        )


def measured(smokes: list[dict[str, Any]], titles: dict[str, str | None]) -> Iterator[Child]:
    """Rates as bars, and pairs of GPUs as a table, where there are any."""
    rates, pairs = rates_of(smokes), pairs_of(smokes)
    if rates or pairs:
        models = {title for title in titles.values() if title}
        alike = len(models) == 1
        named = {name: name if alike or not title else f"{name} ({title})" for name, title in titles.items()}
        of = element("p", f"Of {', '.join(sorted(models))}.", class_="where") if alike else None
        yield section("rates", "Rates", of, *bars(rates, named), pair_table(pairs) if pairs else None)


def failed_smoke(smoke: dict[str, Any], where: str) -> Markup:
    """A smoke that did not pass, or passed with a warning."""
    warned = smoke.get("outcome") == "pass"
    lines = str(smoke.get("reason") or "no reason given").strip().splitlines()
    likely = "likely " if smoke.get("likely") else ""
    details: list[Child] = [
        element("p", f"Do: {words.sentence(str(smoke['remedy']))}") if smoke.get("remedy") else None,
        element("p", f"{likely.capitalize()}cause: {words.sentence(str(smoke['cause']))}")
        if smoke.get("cause")
        else None,
        command("\n".join(lines[1:])) if lines[1:] else None,
    ]
    how = "" if warned else f" ({smoke.get('outcome')})"
    return trouble("warning" if warned else "problem", f"{smoke.get('id')}{how}: {lines[0]}", *details, where=where)


def _wrong(examination: Examination) -> Iterator[Child]:
    if examination.smokes is not None and examination.smokes.problem is not None:
        details = (
            [element("p", f"Do: {words.sentence(examination.smokes.remedy)}")] if examination.smokes.remedy else []
        )
        text = f"No smoke could run: {examination.smokes.problem}"
        yield trouble("problem", text, *details, where=examination.smokes.python)
    for status in _WRONG:
        if examination.smokes is not None:
            yield from _wrong_smokes(examination.smokes, status)
        for each in alike(examination.findings):
            if each.result.status == status:
                yield finding(each)
        if examination.project is not None:
            for result in examination.project.results:
                if result.status == status:
                    yield trouble(status, result.summary, *result_details(result), where=examination.project.root)
    for failure in examination.facts.failures:
        yield trouble("failed", f"The probe {failure.probe} gave no answer ({failure.outcome}: {failure.detail})")


def _wrong_smokes(smokes: SmokeReport, status: str) -> Iterator[Child]:
    for result in smokes.results:
        if (status == "problem" and result.failed) or (status == "warning" and result.details.get("warning")):
            title = smokes.devices.get(result.device)
            yield failed_smoke(plain(result), f"smoke on {result.device}{f' ({title})' if title else ''}")


def _smokes(smokes: SmokeReport) -> Markup:
    rows = [
        (
            result.id,
            result.device,
            element(
                "span",
                result.outcome,
                class_="problem" if result.failed else "ok" if result.outcome == "pass" else "skipped",
            ),
            "" if result.seconds is None else f"{result.seconds:.2f} s",
            result.reason or result.title,
        )
        for result in smokes.results
    ]
    passed = sum(result.outcome == "pass" for result in smokes.results)
    inner = table(f"torch {smokes.torch}", ("smoke", "device", "outcome", "time", "what"), rows)
    summary = element("summary", f"{passed} of {words.count(len(rows), 'smoke')} passed")
    return section("smokes", "Smokes", element("details", summary, inner, open=smokes.failed))


def _install(answer: Answer) -> Iterator[Child]:
    yield element("p", words.sentence(answer.summary))
    if answer.choice is not None:
        yield from _choice(answer.choice)
    for gpus, choice in answer.parts:
        yield element("p", f"For {words.listed(gpus)}, in an environment of its own:")
        yield from _choice(choice)
    for choice in answer.alternatives[:1]:
        yield element("p", f"Or torch {choice.torch} ({choice.build}):")
        yield from _choice(choice)


def _choice(choice: Choice) -> Iterator[Child]:
    yield command(choice.pip)
    if choice.reasons or choice.warnings:
        yield element("ul", *(element("li", words.sentence(text)) for text in (*choice.reasons, *choice.warnings)))


def _all(examination: Examination) -> Markup:
    rows = [
        (
            inner.check.id,
            inner.check.group,
            element("span", WORDS[inner.result.status], class_=inner.result.status),
            inner.result.summary,
        )
        for group in GROUPS
        for found in examination.findings
        for inner in found.all()
        if inner.check.group == group
    ]
    return table("One line a result", ("check", "group", "is", "what"), rows)


def _pairs(lines: list[tuple[str, str]]) -> Iterator[Child]:
    for name, value in lines:
        yield element("dt", name)
        yield element("dd", value)
