"""How the answer is given: as which text, on which terminal, with which exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from torchlift.doctor.command.options import OutputOptions
    from torchlift.doctor.examination import Examination
    from torchlift.doctor.facts import Facts
    from torchlift.doctor.remedies.pin_set import PinFormat
    from torchlift.doctor.smoke.parent.options import SmokeOptions
    from torchlift.doctor.smoke.parent.report import SmokeReport
    from torchlift.terminal.style import Style


def report_of(examination: Examination, output: OutputOptions) -> str:
    """The report as the options want it, after what the smokes have written already."""
    if output.json:
        from torchlift.doctor.report.json_report import render as as_json

        return as_json(examination)
    if output.format == "markdown":
        from torchlift.doctor.report.markdown import render as as_markdown

        return as_markdown(examination)
    from torchlift.doctor.report.text import render

    text = render(examination, style_of(output), verbose=output.verbose)
    if examination.smokes is None:
        return text
    from torchlift.doctor.smoke.parent.report import render_smokes

    # Otherwise it has been written already, as it came.
    return f"{render_smokes(examination.smokes, style_of(output))}\n{text}" if output.redact else f"\n{text}"


def write_page(page: Callable[[], str], output: OutputOptions) -> None:
    """Write the page of `--html`.

    Raises:
        click.UsageError: if the file cannot be written.
    """
    if output.html is None:
        return
    from pathlib import Path

    try:
        # Lone surrogates stand for bytes of names that are no text.
        Path(output.html).write_text(page(), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise click.UsageError(f"{output.html} could not be written: {error.strerror or error}.") from None


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
    at_once = output.format != "text" or output.redact
    live = not at_once and sys.stdout.isatty()
    return run(options, facts, style=style_of(output), live=live, out=None if at_once else _write)


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


def say(text: str, status: int) -> None:
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
