"""How the answer is given: as which text, on which terminal, with which exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from torchlift.doctor.command.options import DoctorFormat, OutputOptions
    from torchlift.doctor.examination import Examination
    from torchlift.doctor.facts import Facts
    from torchlift.doctor.remedies.pin_set import PinFormat
    from torchlift.doctor.smoke.parent.options import SmokeOptions
    from torchlift.doctor.smoke.parent.report import SmokeReport
    from torchlift.terminal.style import Style


def report_of(examination: Examination, output: OutputOptions, form: DoctorFormat, *, smokes_are_shown: bool) -> str:
    """The report in one form."""
    if form == "json":
        from torchlift.doctor.report.json_report import render as as_json

        return as_json(examination)
    if form == "markdown":
        from torchlift.doctor.report.markdown import render as as_markdown
        from torchlift.doctor.report.redact import redacted

        return as_markdown(examination if output.is_redacted else redacted(examination))
    if form == "html":
        from torchlift.doctor.report.page.machine import render as as_page

        return as_page(examination)
    if form in ("github", "junit"):
        from torchlift.doctor.report.in_ci import render as in_ci

        return in_ci(examination, form)
    from torchlift.doctor.report.text import render

    text = render(examination, style_of(output), verbose=output.verbose)
    if examination.smokes is None:
        return text
    if smokes_are_shown:
        return f"\n{text}"
    from torchlift.doctor.smoke.parent.report import render_smokes

    return f"{render_smokes(examination.smokes, style_of(output))}\n{text}"


def tell(output: OutputOptions, status: int, report: Callable[[DoctorFormat, bool], str]) -> NoReturn:
    """Write the report to its files and to standard output, and exit.

    Args:
        output: which forms, and where to.
        status: what to exit with; 2 where a file could not be written.
        report: the report in one form, and whether it is for standard output.
    """
    problems = []
    for form, path in output.files():
        from torchlift.pipelines.files import problem_writing

        problems.append(problem_writing(path, report(form or output.format, False)))
    for problem in filter(None, problems):
        click.echo(problem, err=True)
        status = 2
    say(report(output.format, True) if output.is_shown else "", status)


def style_of(output: OutputOptions) -> Style:
    """What standard output can show."""
    import shutil

    from torchlift.terminal.color import wants_color
    from torchlift.terminal.style import Style, can_write_marks

    # What is not on a terminal is read in files and issues, whose width nobody knows.
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    return Style(
        color=wants_color(output.color, sys.stdout), fancy=can_write_marks(sys.stdout.encoding), width=max(width, 40)
    )


def smokes_of(options: SmokeOptions, facts: Facts, output: OutputOptions) -> SmokeReport:
    """Run the smokes, and write what they find as it comes where the options allow that."""
    from torchlift.doctor.smoke.parent.options import run

    # Whatever needs the whole first (JSON, and names taken out) cannot be written as it comes.
    at_once = not prints_as_it_comes(output)
    live = not at_once and sys.stdout.isatty()
    return run(options, facts, style=style_of(output), live=live, out=None if at_once else _write)


def prints_as_it_comes(output: OutputOptions) -> bool:
    """Whether what smokes find is shown before the report."""
    return output.format == "text" and output.is_shown and not output.redact


def _write(text: str) -> None:
    from io import TextIOWrapper

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text)
    sys.stdout.flush()


def emit(examination: Examination, kind: PinFormat) -> None:
    """Write the pin set and exit: 0, or 1 with the reason on standard error where the answer is no single wheel."""
    from torchlift.doctor.remedies.pin_set import pin_set
    from torchlift.doctor.remedies.wheel_remedy import companions_of

    answer = examination.answer
    if answer is None or answer.kind != "wheel" or answer.choice is None or not answer.choice.version:
        reason = answer.summary if answer is not None else "No wheel could be chosen"
        click.echo(f"There is nothing to pin. {reason}.", err=True)
        sys.exit(1)
    facts = examination.facts
    say(pin_set(facts, answer.choice, companions_of(facts), answer.summary, kind), 0)


def say(text: str, status: int) -> NoReturn:
    """Write to standard output and exit."""
    from io import TextIOWrapper

    from torchlift.terminal.standard_output import why_not_written

    if isinstance(sys.stdout, TextIOWrapper):
        # Names of files and devices may hold characters that the terminal's encoding lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    reason = why_not_written(lambda: sys.stdout.write(text))
    if reason is not None:
        click.echo(f"The report could not be written: {reason}.", err=True)
        sys.exit(2)
    sys.exit(status)
