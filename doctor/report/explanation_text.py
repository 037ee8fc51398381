"""The answer to `--explain-error` for a person."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator

from torchlift.doctor.check import Result
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.derived.visible_gpus import visible_gpus
from torchlift.doctor.errors.first_cause import Place, Recognised
from torchlift.doctor.errors.known_error import KnownError
from torchlift.doctor.facts import Facts
from torchlift.doctor.report import words
from torchlift.doctor.report.explanation import Explanation, causes_by_evidence
from torchlift.terminal.columns import one_line
from torchlift.terminal.style import Style

_MOST_OTHERS = 5
_SEEN = ("problem", "warning", "note")
_OF_GPUS = {"torch-cpu-build", "cuda-visible-devices", "driver-missing"}
"""Checks of errors that a machine without a GPU, or a torch without CUDA, has by nature."""
_OF_WINDOWS = re.compile(r"\b[A-Za-z]:\\|%\w{1,40}%|\.(exe|dll|EXE|DLL)\b")
_EXPORT = re.compile(r"export( [A-Z_0-9]{1,60}=[\w,.]{1,60}){1,4}")


def render(explanation: Explanation, style: Style, *, verbose: bool = False) -> str:
    """The whole answer, ending in a line feed.

    Args:
        explanation: what was found out.
        style: how to write it.
        verbose: also all other errors of the text, checks that find nothing, and sources.
    """
    blocks = [
        [*_verdict(explanation, style)],
        [*_machine(explanation, style, verbose)],
        [*_remedy(explanation, style)],
        [*_causes(explanation, style)],
        [*_others(explanation, style, verbose)],
        [*_unexplained(explanation, style)],
        [*_sources(explanation, style, verbose)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _verdict(explanation: Explanation, style: Style) -> Iterator[str]:
    finding = explanation.finding
    if finding.verdict == "unknown" or finding.first is None:
        yield style.verdict("torchlift does not know this error.", "note")
        known = finding.first is not None
        text = (
            "What it does know in this text stands below; it does not say why the first error came to pass."
            if known
            else "`torchlift doctor` examines the machine; `python -m torchlift.doctor.errors.page` lists the errors that are known."
        )
        yield from _wrapped(text, style)
        return
    row = finding.first.row
    lead = "A remark, nothing stops for it: " if row.level == "warning" else "Likely: " if row.likely else ""
    sentence = words.sentence(f"{lead}{row.cause}")
    for line in _wrapped(f"{sentence} ({row.id})", style):
        yield style.verdict(line, "problem" if row.level != "warning" else "note")
    yield from _place(finding.first.place, finding.lines, style)


def _place(place: Place, lines: int, style: Style) -> Iterator[str]:
    rank = f", rank {place.rank}" if place.rank is not None else ""
    where = f"Line {place.line} of {lines}{rank}: " if lines > 1 else ""
    # Behind a bar, no line of the text can begin one of ours: CI systems obey lines that begin with two colons.
    yield style.faint(f"  | {where}{one_line(place.text)}")


def _machine(explanation: Explanation, style: Style, verbose: bool) -> Iterator[str]:
    first, facts = explanation.finding.first, explanation.facts
    if first is None or facts is None or facts.hypothetical or explanation.finding.verdict == "unknown":
        return
    shown = [each for each in explanation.results if each.result.status in _SEEN]
    yield style.heading("This machine")
    if not shown:
        checks = words.listed(first.row.checks)
        lead = (
            _without_gpu(facts, first.row)
            or f"{_asked(facts, first.row)}The checks find nothing of it here ({checks})."
        )
        question = "Is the text from another machine, environment (--python) or moment? --facts FILE asks a machine by its facts."
        yield from _wrapped(f"{lead} {question}", style, "  ")
    for each in shown if not verbose else explanation.results:
        yield from _result(each.result, each.check.id, style)


def _result(result: Result, id: str, style: Style) -> Iterator[str]:
    lead = " " * (2 + style.mark_width(result.status) + 1)
    lines = _wrapped(f"{one_line(result.summary)} ({id})", style, lead)
    yield f"  {style.mark(result.status)} {lines[0].lstrip()}"
    yield from lines[1:]
    if result.remedy is None or result.status not in ("problem", "warning"):
        return
    if result.remedy.command is None:
        yield from _wrapped(f"fix: {one_line(result.remedy.text)}", style, lead)
        return
    for line in result.remedy.command.splitlines():
        yield f"{lead}fix: {style.command(one_line(line))}"


def _remedy(explanation: Explanation, style: Style) -> Iterator[str]:
    first = explanation.finding.first
    if first is None or explanation.finding.verdict == "unknown":
        return
    if any(each.result.status == "problem" and each.result.remedy is not None for each in explanation.results):
        return
    yield style.heading("What to do")
    answer = explanation.answer
    if answer is not None:
        yield from _wrapped(words.sentence(one_line(answer.summary)), style, "  ")
        choice = answer.choice or answer.then
        if choice is not None:
            yield f"  pip: {style.command(one_line(choice.pip))}"
            yield f"  uv:  {style.command(one_line(choice.uv))}"
        return
    yield from _wrapped(words.sentence(first.row.remedy), style, "  ")
    if first.row.command is not None:
        yield f"  {style.command(_command(first, explanation.facts))}"


def _causes(explanation: Explanation, style: Style) -> Iterator[str]:
    first = explanation.finding.first
    if first is None or not first.row.causes or explanation.finding.verdict == "unknown":
        return
    yield style.heading("Which of these it is")
    for number, each in enumerate(causes_by_evidence(first.row, explanation.results), 1):
        evidence = {"machine": " (this machine has it)", "text": " (the text speaks for it)", None: ""}[each.speaks]
        yield from _hanging(f"{number}. ", words.sentence(f"{each.what}{evidence}"), style)
        yield from _wrapped(words.sentence(f"Told by: {each.tell}"), style, "     ")
        yield from _wrapped(words.sentence(f"Then: {each.remedy}"), style, "     ")


def _command(found: Recognised, facts: Facts | None) -> str:
    """The row's command; what sets variables in PowerShell's words where the machine or the text is of Windows."""
    command = found.row.command or ""
    is_windows = sys.platform == "win32" if facts is None else facts.system.os == "windows"
    if not (is_windows or _OF_WINDOWS.search(found.place.text)) or not _EXPORT.fullmatch(command):
        return command
    pairs = [each.partition("=") for each in command.split()[1:]]
    return "; ".join(f'$env:{name}="{value}"' for name, _, value in pairs)


def _asked(facts: Facts, row: KnownError) -> str:
    """Which Python and platform a requirement, symbol or library is for."""
    if not row.general:
        return ""
    return f"Python {facts.python.version} is asked, for {facts.system.os} on {facts.system.machine}. "


def _without_gpu(facts: Facts, row: KnownError) -> str:
    """That there is no GPU or a torch without CUDA, which no check finds wrong where both go together, else nothing."""
    if not _OF_GPUS & {*row.checks} or facts.system.os == "darwin" or visible_gpus(facts).gpus:
        return ""
    said = "no NVIDIA GPU is in view (a container needs --gpus all): a program that needs one stops here."
    if facts.torch is not None and torch_build(facts.torch).vendor == "none":
        return f"torch {facts.torch.version} is a build for the CPU only, and {said}"
    return f"N{said[1:]}"


def _others(explanation: Explanation, style: Style, verbose: bool) -> Iterator[str]:
    finding = explanation.finding
    others = [*finding.others]
    if finding.verdict == "unknown" and finding.first is not None:
        others.insert(0, finding.first)
    if not others:
        return
    yield style.heading("Also in this text")
    shown = others if verbose else others[:_MOST_OTHERS]
    for each in shown:
        yield from _other(each, style)
    if len(others) > len(shown):
        yield style.faint(f"  {len(others) - len(shown)} more (-v shows all)")


def _other(found: Recognised, style: Style) -> Iterator[str]:
    rank = f", rank {found.place.rank}" if found.place.rank is not None else ""
    text = words.sentence(found.row.cause)
    yield from _hanging(f"line {found.place.line}{rank}: ", f"{text} ({found.row.id})", style)


def _unexplained(explanation: Explanation, style: Style) -> Iterator[str]:
    places = explanation.finding.unexplained
    if not places:
        return
    yield style.heading("Not in torchlift's table")
    for place in places:
        yield from _place(place, max(explanation.finding.lines, 2), style)


def _sources(explanation: Explanation, style: Style, verbose: bool) -> Iterator[str]:
    first = explanation.finding.first
    if first is None or explanation.finding.verdict == "unknown" or not verbose:
        return
    yield style.heading("Sources")
    for source in first.row.sources:
        yield style.faint(f"  - {source}")


def _hanging(label: str, text: str, style: Style) -> list[str]:
    lines = _wrapped(text, style, " " * 4)
    return [f"  {label}{lines[0].lstrip()}", *lines[1:]]


def _wrapped(text: str, style: Style, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        max(style.width, len(indent) + 20),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
