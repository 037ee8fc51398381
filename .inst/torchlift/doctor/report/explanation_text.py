"""The answer to `--explain-error` for a person."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from torchlift.doctor.check import Result
from torchlift.doctor.errors.first_cause import Place, Recognised
from torchlift.doctor.report import words
from torchlift.doctor.report.explanation import Explanation
from torchlift.terminal.columns import one_line
from torchlift.terminal.style import Style

_MOST_OTHERS = 5
_SEEN = ("problem", "warning", "note")


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
            else "`torchlift doctor` examines the machine; docs/errors.md lists the errors that are known."
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
        yield from _wrapped(
            f"Nothing of it is seen here ({checks}). Is the text from another machine, environment (--python) or moment? "
            "--facts FILE asks a machine by its facts.",
            style,
            "  ",
        )
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
        yield f"  {style.command(first.row.command)}"


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
