"""The report to paste into an issue: Markdown as GitHub and GitLab show it, with everything in one block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlift import __version__
from torchlift.doctor.check import Evidence, Result
from torchlift.doctor.diagnose import Diagnosed
from torchlift.doctor.examination import Examination
from torchlift.doctor.report import words
from torchlift.doctor.report.alike import alike
from torchlift.doctor.report.rates import Rate, rates_of, shown
from torchlift.doctor.report.sheet import machine_lines, wants_install
from torchlift.doctor.report.text import render as as_text
from torchlift.doctor.report.verdict import verdict
from torchlift.json_records.writing import plain
from torchlift.terminal.markdown import block, code, folded, prose, table
from torchlift.terminal.style import Style

_WRONG = ("problem", "failed", "warning")


def render(examination: Examination) -> str:
    """Verdict, machine, what is wrong with what to do, rates; the whole report as text is folded away below.

    The examination must have been redacted before, see `redact.redacted`.
    """
    parts = [
        [f"### torchlift doctor: {prose(verdict(examination))}"],
        table(("", ""), [(f"**{name}**", prose(value)) for name, value in machine_lines(examination.facts)]),
        list(_wrong(examination)),
        list(_measured(examination)),
        list(_install(examination)),
        folded("The whole report", as_text(examination, Style(width=100), verbose=True)),
        [f"<sub>torchlift {__version__}, redacted. {words.data_age()}</sub>"],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def finding(found: Diagnosed, depth: int = 0) -> Iterator[str]:
    """A result as an item of a list, its evidence and remedy below it, then what follows from it."""
    yield from result_lines(found.result, code(found.check.id), depth)
    for inner in found.consequences:
        if inner.result.status not in ("ok", "skipped"):
            yield from finding(inner, depth + 1)


def result_lines(result: Result, where: str, depth: int = 0) -> Iterator[str]:
    """A result as an item of a list."""
    indent = "  " * depth
    yield f"{indent}- **{result.status}** {prose(result.summary)} ({where})"
    for item in result.evidence:
        yield f"{indent}  - {prose(_evidence(item))}"
    if result.remedy is not None:
        command = f" {code(result.remedy.command)}" if result.remedy.command else ""
        yield f"{indent}  - fix: {prose(result.remedy.text)}{command}"


def rate_table(rates: Sequence[Rate]) -> list[str]:
    """A line a device, a column a measure."""
    measures = list(dict.fromkeys(rate.what for rate in rates))
    devices = list(dict.fromkeys(rate.device for rate in rates))
    by_place = {(rate.device, rate.what): rate for rate in rates}
    rows = []
    for device in devices:
        cells = [prose(device or "all")]
        for what in measures:
            rate = by_place.get((device, what))
            share = "" if rate is None or rate.share is None else f" ({rate.share:.0%})"
            cells.append("" if rate is None else f"{shown(rate.value, rate.unit)}{share}")
        rows.append(cells)
    return table(("device", *map(prose, measures)), rows)


def _wrong(examination: Examination) -> Iterator[str]:
    lines = []
    smokes = examination.smokes
    if smokes is not None and smokes.problem is not None:
        lines.append(f"- **problem** No smoke could run: {prose(smokes.problem)}")
    for result in smokes.results if smokes is not None else ():
        if result.failed or result.details.get("warning"):
            word = "problem" if result.failed else "warning"
            reason = (result.reason or result.outcome).strip()
            lines.append(f"- **{word}** smoke {code(result.id)} on {code(result.device)}: {prose(reason)}")
            if result.cause:
                lines.append(f"  - {'likely ' if result.likely else ''}cause: {prose(result.cause)}")
            if result.remedy:
                lines.append(f"  - do: {prose(result.remedy)}")
    for status in _WRONG:
        for found in alike(examination.findings):
            if found.result.status == status:
                lines += finding(found)
        for each in examination.project.results if examination.project is not None else ():
            if each.status == status:
                lines += result_lines(each, "project")
    for failure in examination.facts.failures:
        lines.append(f"- **not known** {prose(f'{failure.probe}: {failure.outcome}, {failure.detail}')}")
    yield "#### What is wrong"
    yield ""
    yield from lines or ["Nothing that torchlift looks for."]


def _measured(examination: Examination) -> Iterator[str]:
    if examination.smokes is None:
        return
    results = examination.smokes.results
    yield "#### Smokes"
    yield ""
    passed = sum(result.outcome == "pass" for result in results)
    yield f"{passed} of {words.count(len(results), 'smoke')} passed, torch {prose(str(examination.smokes.torch))}."
    rates = rate_table(rates_of([plain(result) for result in results]))
    if rates:
        yield ""
        yield from rates


def _install(examination: Examination) -> Iterator[str]:
    answer = examination.answer
    if answer is None or not wants_install(examination):
        return
    yield "#### What to install"
    yield ""
    yield prose(words.sentence(answer.summary))
    choices = [choice for choice in (answer.choice, *(part for _, part in answer.parts)) if choice is not None]
    for choice in choices or answer.alternatives[:1]:
        yield ""
        yield from block(choice.pip, "sh")


def _evidence(item: Evidence) -> str:
    needed = f"; needed: {item.needed}" if item.needed is not None else ""
    return f"{item.what}: {item.seen}{needed}"
