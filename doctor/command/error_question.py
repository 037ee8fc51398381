"""`--explain-error`: from the option's value to the answer."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlift.doctor.command.options import MachineOptions, OutputOptions
    from torchlift.doctor.diagnose import Diagnosed
    from torchlift.doctor.errors.first_cause import Assessment
    from torchlift.doctor.errors.known_error import KnownError
    from torchlift.doctor.facts import Facts
    from torchlift.doctor.report.explanation import Explanation

_HINT = "--explain-error"
_ELSEWHERE = (
    "repo",
    "only",
    "skip",
    "list_checks",
    "explain",
    "save_facts",
    "strict",
    "emit",
    "smoke",
    "smoke_only",
    "fleet",
)


def explained_error(
    text: str, machine: MachineOptions, output: OutputOptions, wanted: str | None, given: Mapping[str, Any]
) -> tuple[str, int]:
    """The answer, and the exit status.

    Args:
        text: an error message, the path of a log, or "-" for standard input.
        machine: which machine's facts to ask.
        output: how to answer.
        wanted: the requirement of --for.
        given: the values of all options.

    Raises:
        click.UsageError: the text cannot be read, or other options do not go with the question.
    """
    for name in _ELSEWHERE:
        if given.get(name):
            raise click.UsageError(f"{_HINT} is a question of its own: leave out --{name.replace('_', '-')}.")
    output.refuse_reports(_HINT)
    if wanted is not None and not machine.is_described:
        raise click.UsageError(f"With {_HINT}, --for is for a machine that --gpu describes.")
    if machine.facts == "-" and text == "-":
        raise click.UsageError("Standard input can be the facts or the text, not both.")
    from torchlift.doctor.command.output import style_of
    from torchlift.doctor.report import explanation as as_json
    from torchlift.doctor.report import explanation_text

    answer = _explanation(_finding(text), machine, wanted, given)
    if output.redact:
        answer = _redacted(answer, machine)
    if output.json:
        return as_json.render(answer), answer.exit_code
    return explanation_text.render(answer, style_of(output), verbose=output.verbose), answer.exit_code


def _finding(text: str) -> Assessment:
    from torchlift.doctor.errors.first_cause import first_cause
    from torchlift.doctor.errors.lines import UnreadableText, chunks_of

    if not text.strip():
        raise click.BadParameter("The text is empty.", param_hint=_HINT)
    try:
        with _opened(text) as stream:
            finding = first_cause(chunks_of(stream))
    except UnreadableText as error:
        raise click.BadParameter(str(error), param_hint=_HINT) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.BadParameter(f"The text cannot be read: {reason}.", param_hint=_HINT) from None
    if finding.lines == 0:
        raise click.BadParameter("The text is empty.", param_hint=_HINT)
    return finding


@contextmanager
def _opened(text: str) -> Iterator[BinaryIO]:
    if text == "-":
        yield sys.stdin.buffer
        return
    if _may_be_path(text) and os.path.lexists(text):
        path = Path(text)
        if path.is_dir():
            raise click.BadParameter(f"{text} is a folder; name a file in it.", param_hint=_HINT)
        with path.open("rb") as stream:
            yield stream
        return
    if _is_surely_path(text):
        raise click.BadParameter(f"There is no file {text}.", param_hint=_HINT)
    yield io.BytesIO(text.encode("utf-8", errors="replace"))


def _may_be_path(text: str) -> bool:
    return len(text) < 4096 and "\n" not in text and "\0" not in text


def _is_surely_path(text: str) -> bool:
    one_word = _may_be_path(text) and not any(character.isspace() for character in text)
    return one_word and text.lower().endswith((".log", ".txt", ".out", ".err"))


def _explanation(
    finding: Assessment, machine: MachineOptions, wanted: str | None, given: Mapping[str, Any]
) -> Explanation:
    from torchlift.doctor.command.machine import examined_facts
    from torchlift.doctor.report.explanation import Explanation

    row = finding.first.row if finding.first is not None else None
    if row is None or finding.verdict == "unknown" or not (row.checks or row.wheel):
        return Explanation(finding)
    facts = examined_facts(machine)
    facts.installing.chosen = given.get("install_with") or facts.installing.chosen
    if facts.hypothetical:
        from torchlift.doctor.remedies.wheel_remedy import fitted, wheel_answer

        return Explanation(finding, facts, (), fitted(facts, wheel_answer(facts, wanted)) if row.wheel else None)
    return Explanation(finding, facts, tuple(_results(facts, row)))


def _results(facts: Facts, row: KnownError) -> Iterator[Diagnosed]:
    """What the machine's checks say about the error, what is wrong first; what that follows from, before it."""
    from torchlift.doctor.checks.registry import all_checks
    from torchlift.doctor.diagnose import diagnose

    worst = ("problem", "warning", "note", "failed", "ok", "skipped")
    found: list[Diagnosed] = []
    for root in diagnose(facts, all_checks()):
        below = [each for each in root.all() if each.check.id in row.checks]
        if below and root not in below and root.result.status in ("problem", "warning"):
            found.append(root)
        found += below
    yield from sorted(found, key=lambda each: worst.index(each.result.status))


def _redacted(answer: Explanation, machine: MachineOptions) -> Explanation:
    from dataclasses import replace

    from torchlift.doctor.command.machine import examined_facts
    from torchlift.doctor.report.redact import without_names

    facts = answer.facts if answer.facts is not None else examined_facts(machine)
    finding = answer.finding
    places = [each.place for each in (*([finding.first] if finding.first else []), *finding.others)]
    results, shown, unexplained = without_names(facts, (answer.results, places, finding.unexplained))
    known = iter(shown)
    first = replace(finding.first, place=next(known)) if finding.first else None
    others = tuple(replace(each, place=next(known)) for each in finding.others)
    return replace(
        answer, finding=replace(finding, first=first, others=others, unexplained=unexplained), results=results
    )
