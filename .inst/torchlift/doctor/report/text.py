"""The report for a person: verdict, machine, sections with one mark a line, what to install."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from torchlift.doctor.check import GROUPS, Evidence, Result
from torchlift.doctor.derived.naming import cuda_text
from torchlift.doctor.derived.nvidia_driver import cuda_of_driver, driver_version
from torchlift.doctor.diagnose import Diagnosed
from torchlift.doctor.examination import Examination
from torchlift.doctor.report import words
from torchlift.doctor.report.alike import alike
from torchlift.doctor.report.sheet import status_of, wants_install
from torchlift.doctor.report.verdict import verdict
from torchlift.doctor.report.words import data_age
from torchlift.terminal.columns import one_line
from torchlift.terminal.style import Style
from torchlift.wheels.answer import Answer, Choice

_WORST_FIRST = ("problem", "failed", "warning", "ok", "note", "skipped")
_TITLES = {
    "machine": "Machine",
    "driver": "Driver",
    "gpu": "GPU",
    "torch": "torch",
    "packages": "Packages",
    "environment": "Environment",
    "multi-gpu": "Several GPUs",
}
_CONFIDENCE = {"measured": "measured on this machine", "table": "from torchlift's tables", "likely": "the likely cause"}
_MOST_NOTES = 3


def render(examination: Examination, style: Style, *, verbose: bool = False) -> str:
    """The whole report, ending in a line feed.

    Args:
        examination: what was found out.
        style: how to write it.
        verbose: also what is well, what could not be checked, and all evidence.
    """
    blocks = [list(_verdict(examination, style, status_of(examination))), list(_machine(examination, style))]
    sections = _sections(examination, style, verbose)
    blocks += sections if verbose else [[line for section in sections for line in section]]
    if examination.project is not None:
        blocks.append(list(_project(examination, style, verbose)))
    if examination.answer is not None and wants_install(examination):
        blocks.append(list(_install(examination, examination.answer, style, verbose)))
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _verdict(examination: Examination, style: Style, status: str) -> Iterator[str]:
    for line in _wrapped(verdict(examination), style.width):
        yield style.verdict(line, status)


def _machine(examination: Examination, style: Style) -> Iterator[str]:
    facts = examination.facts
    yield style.heading("Machine as described" if facts.hypothetical else "This machine")
    lines = [words.operating_system(facts)]
    driver = driver_version(facts)
    version = cuda_of_driver(facts)
    hardware = [words.gpus_with_memory(facts)]
    if driver is not None:
        hardware.append(f"driver {driver}{f' (CUDA {cuda_text(version)})' if version else ''}")
    lines.append(", ".join(part for part in hardware if part))
    software = [words.packages(facts), words.python(facts)]
    lines.append(", ".join(part for part in software if part))
    for line in lines:
        if line:
            yield from _wrapped(line, style.width, "  ")
    for failure in facts.failures:
        seconds = f" after {failure.seconds:.0f} s" if failure.seconds and failure.seconds >= 1 else ""
        text = f"not known: the probe {failure.probe} gave no answer ({failure.outcome}{seconds}: {failure.detail})"
        yield from _wrapped(text, style.width, "  ")


def _sections(examination: Examination, style: Style, verbose: bool) -> list[list[str]]:
    sections = []
    for group in GROUPS:
        findings = [finding for finding in examination.findings if finding.check.group == group]
        if findings:
            sections.append(list(_section(_TITLES.get(group, group), findings, style, verbose)))
    return sections


def _section(title: str, findings: Sequence[Diagnosed], style: Style, verbose: bool) -> Iterator[str]:
    inner = [item for finding in findings for item in finding.all()]
    worst = min((item.result.status for item in inner), key=_WORST_FIRST.index)
    # Notes never make a section other than well.
    status = "ok" if worst == "note" else worst
    well = sum(item.result.status == "ok" for item in inner)
    tail = ""
    if status == "skipped":
        tail = style.faint(" (nothing known to check)")
    elif status == "ok" and not verbose and well:
        tail = style.faint(f" ({words.count(well, 'check')})")
    yield f"{style.mark(status)} {style.heading(title)}{tail}"
    shown = alike(findings)
    if not verbose:
        shown.sort(key=lambda finding: _WORST_FIRST.index(finding.result.status))
    notes = 0
    for finding in shown:
        if finding.result.status == "note" and not verbose:
            notes += 1
            if notes > _MOST_NOTES:
                continue
        yield from _finding(finding, style, verbose, "    ")
    if notes > _MOST_NOTES:
        yield style.faint(f"    {words.count(notes - _MOST_NOTES, 'more note')} (-v shows all)")


def _finding(finding: Diagnosed, style: Style, verbose: bool, indent: str, *, follows: bool = False) -> Iterator[str]:
    # What follows from a problem goes away with it: its own remedy would only mislead.
    result = replace(finding.result, remedy=None) if follows and not verbose else finding.result
    yield from _result(result, style, verbose, indent, finding.check.id)
    if finding.result.status in ("ok", "skipped") and not verbose:
        return
    for below in finding.consequences:
        yield from _finding(below, style, verbose, indent + "    ", follows=True)


def _result(result: Result, style: Style, verbose: bool, indent: str, id: str) -> Iterator[str]:
    if result.status in ("ok", "skipped") and not verbose:
        return
    mark = f"{indent}{style.mark(result.status)} "
    lead = len(indent) + style.mark_width(result.status) + 1
    text = (
        f"{one_line(result.summary)} ({id})"
        if id and (verbose or result.status != "note")
        else one_line(result.summary)
    )
    lines = _wrapped(text, style.width, " " * lead)
    yield mark + lines[0].lstrip()
    yield from lines[1:]
    inside = " " * lead
    if verbose:
        yield from _details(result, style, inside)
    remedy = result.remedy
    if remedy is None or (result.status == "note" and not verbose):
        return
    if remedy.command is not None:
        if verbose and remedy.text:
            yield from _wrapped(words.sentence(one_line(remedy.text)), style.width, inside)
        yield from _command("fix: ", remedy.command, style, inside)
    else:
        yield from _hanging("fix: ", one_line(remedy.text), style.width, inside)


def _details(result: Result, style: Style, indent: str) -> Iterator[str]:
    for item in result.evidence:
        yield from (style.faint(line) for line in _hanging("- ", _evidence(item), style.width, indent))
    if result.status in ("problem", "warning", "note"):
        yield style.faint(f"{indent}- {_CONFIDENCE[result.confidence]}")
    if result.link:
        yield style.faint(f"{indent}- {one_line(result.link)}")


def _evidence(item: Evidence) -> str:
    needed = f"; needed: {item.needed}" if item.needed is not None else ""
    source = f" [{item.source}]" if item.source else ""
    return one_line(f"{item.what}: {item.seen}{needed}{source}")


def _project(examination: Examination, style: Style, verbose: bool) -> Iterator[str]:
    project = examination.project
    assert project is not None
    statuses = [result.status for result in project.results]
    worst = min(statuses, key=_WORST_FIRST.index, default="skipped")
    yield f"{style.mark('ok' if worst == 'note' else worst)} {style.heading('Project')} {one_line(project.root)}"
    for result in project.results:
        # What the project asks for was the question: what is well is shown, too.
        yield from _result(result, style, verbose or result.status == "ok", "    ", "")
    for note in project.notes:
        yield from _hanging(f"{style.mark('note')} ", one_line(note), style.width, "    ", style.mark_width("note") + 1)


def _install(examination: Examination, answer: Answer, style: Style, verbose: bool) -> Iterator[str]:
    yield style.heading("Install")
    if not examination.is_plan:
        # Of a plan it is the verdict already.
        yield from _wrapped(words.sentence(one_line(answer.summary)), style.width, "  ")
    for reason in answer.reasons:
        yield from _hanging("- ", words.sentence(one_line(reason)), style.width, "  ")
    if answer.choice is not None:
        yield from _choice(examination, answer.choice, style, verbose, "  ")
    for gpus, choice in answer.parts:
        yield from _wrapped(f"For {words.listed(gpus)}, in an environment of its own:", style.width, "  ")
        yield from _choice(examination, choice, style, verbose, "    ")
    if answer.upgrade_driver is not None:
        after = f" {_named(answer.then)} becomes possible" if answer.then is not None else ""
        if answer.choice is None:
            lead = f"Upgrade the NVIDIA driver to {answer.upgrade_driver} or newer.{after}{':' if after else ''}"
        else:
            lead = f"With the NVIDIA driver {answer.upgrade_driver} or newer{after or ' more becomes possible'}:"
        yield from _wrapped(lead, style.width, "  ")
        if answer.then is not None:
            yield from _choice(examination, answer.then, style, verbose, "    ")
    alternatives = answer.alternatives if verbose else answer.alternatives[:1]
    for choice in alternatives:
        possible = answer.choice is not None or answer.parts or answer.then is not None
        yield from _wrapped(f"{'Or' if possible else 'Instead'} {_named(choice)}:", style.width, "  ")
        yield from _choice(examination, choice, style, verbose, "    ")
    if len(answer.alternatives) > len(alternatives):
        yield style.faint(f"  {words.count(len(answer.alternatives) - 1, 'more alternative')} (-v shows all)")
    for line in _wrapped(_age(answer), style.width, "  "):
        yield style.faint(line)


def _choice(examination: Examination, choice: Choice, style: Style, verbose: bool, indent: str) -> Iterator[str]:
    lines = (("pip", choice.pip), ("uv", choice.uv), *choice.ways)
    if examination.facts.installing.chosen is not None:
        lines = tuple(line for line in lines if line[0] == examination.facts.installing.chosen) or lines
    width = max(len(tool) for tool, _ in lines) + 2
    for tool, line in lines:
        yield from _command(f"{tool}:".ljust(width), line, style, indent)
    for reason in choice.reasons:
        yield from _hanging("- ", words.sentence(one_line(reason)), style.width, indent)
    for warning in choice.warnings:
        lead = style.mark_width("warning") + 1
        yield from _hanging(f"{style.mark('warning')} ", words.sentence(one_line(warning)), style.width, indent, lead)
    if not choice.measured:
        text = "The architectures of this wheel are from a secondary source; torchlift has not read the wheel itself."
        yield from _hanging("- ", text, style.width, indent)
    if verbose:
        for source in choice.sources:
            yield style.faint(f"{indent}- source: {one_line(source)}")


def _named(choice: Choice | None) -> str:
    return f"torch {choice.torch} ({choice.build})" if choice is not None else "torch"


def _age(answer: Answer) -> str:
    if answer.data_note is None:
        return data_age()
    return f"{words.sentence(one_line(answer.data_note))} {data_age()}"


def _command(label: str, command: str, style: Style, indent: str) -> Iterator[str]:
    # Never wrapped: it is there to be copied.
    lines = [one_line(line) for line in command.splitlines()] or [""]
    yield f"{indent}{label}{style.command(lines[0])}"
    for line in lines[1:]:
        yield f"{indent}{' ' * len(label)}{style.command(line)}"


def _hanging(label: str, text: str, width: int, indent: str, lead: int | None = None) -> list[str]:
    inside = " " * (len(indent) + (len(label) if lead is None else lead))
    lines = _wrapped(text, width, inside)
    return [indent + label + lines[0].lstrip(), *lines[1:]]


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    wrapper = textwrap.TextWrapper(
        width=max(width, len(indent) + 20),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapper.wrap(one_line(text)) or [indent.rstrip()]
