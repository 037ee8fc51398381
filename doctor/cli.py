"""`torchlift doctor`, also installed as `doctor`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from torchlift import __version__
from torchlift.doctor.options import (
    MachineOptions,
    OutputOptions,
    QuestionOptions,
    machine_options,
    output_options,
    question_options,
)
from torchlift.doctor.smoke.options import SmokeOptions, smoke_options

if TYPE_CHECKING:
    from torchlift.doctor.check import Check
    from torchlift.doctor.examination import Examination
    from torchlift.doctor.facts import Facts
    from torchlift.doctor.report.style import Style
    from torchlift.doctor.smoke.report import SmokeReport

_Options = TypeVar("_Options")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@machine_options
@question_options
@output_options
@smoke_options
@click.version_option(__version__, "-V", "--version", prog_name="torchlift")
def doctor(**given: Any) -> None:
    """Do this GPU, this driver, this torch and its libraries form a working set?

    If not, what is wrong and which command mends it; and which torch would be right. Nothing is changed. Exit status: 0
    healthy (warnings too), 1 problems (with --strict, warnings too), 2 torchlift or its input failed.
    """
    machine = _read(MachineOptions, given)
    question = _read(QuestionOptions, given)
    output = _read(OutputOptions, given)
    smokes = _read(SmokeOptions, given)
    if smokes.list_smokes:
        from torchlift.doctor.smoke.options import listed

        _say(listed(smokes, as_json=output.json), 0)
    if smokes.wanted and (machine.facts is not None or machine.is_described):
        raise click.UsageError("Smokes run on this machine: --smoke goes neither with --facts nor with --gpu.")
    if question.list_checks or question.explain is not None:
        _say(_about_checks(question, output), 0)
    checks = _checks(question)
    wanted = _requirement(question.wanted)
    facts = _facts(machine)
    examination = _examination(facts, checks, wanted, question, output)
    if smokes.wanted:
        examination = replace(examination, smokes=_smokes(smokes, facts, output))
    if output.redact:
        from torchlift.doctor.redact import redacted

        examination = redacted(examination)
    if machine.save_facts is not None:
        _save(examination.facts, machine.save_facts)
    _say(_report(examination, output), examination.exit_code)


def main() -> None:
    """Entry point of the `doctor` command."""
    from torchlift.cli import run_command

    run_command(doctor, "doctor")


def _read(kind: type[_Options], given: Mapping[str, Any]) -> _Options:
    return kind(**{field.name: given[field.name] for field in fields(kind)})  # type: ignore[arg-type]


def _checks(question: QuestionOptions) -> tuple[Check, ...]:
    from torchlift.doctor.checks import all_checks
    from torchlift.doctor.select_checks import UnknownName, selected, split_names

    try:
        return selected(all_checks(), split_names(question.only), split_names(question.skip))
    except UnknownName as error:
        raise click.UsageError(str(error)) from None


def _requirement(text: str | None) -> str | None:
    if text is None:
        return None
    from torchlift.doctor.wanted import WantedError, torch_requirement

    try:
        return torch_requirement(text)
    except WantedError as error:
        raise click.BadParameter(f"{error}.", param_hint="--for") from None


def _facts(options: MachineOptions) -> Facts:
    if options.is_described:
        return _described(options)
    if options.facts is not None:
        for name in ("python", "root", "import_torch"):
            if getattr(options, name):
                flag = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"--facts and {flag} exclude each other: a facts file is not looked at again.")
        return _from_file(options.facts)
    return _from_here(options)


def _described(options: MachineOptions) -> Facts:
    from torchlift.doctor.hypothetical import DescriptionError, described

    for name in ("facts", "python", "root", "import_torch"):
        if getattr(options, name):
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} looks at a machine; --gpu, --driver and the like describe one. Choose one.")
    if options.driver is not None and not options.gpu:
        raise click.UsageError("--driver describes a machine together with --gpu: name the GPU, too.")
    try:
        return described(
            options.gpu,
            driver=options.driver,
            os=options.os,
            machine=options.machine,
            python=options.python_version,
        )
    except DescriptionError as error:
        text = str(error)
        raise click.UsageError(text if text.endswith("?") else f"{text}.") from None


def _from_file(name: str) -> Facts:
    from pathlib import Path

    from torchlift.doctor.facts_json import FactsError, from_json, read_facts

    try:
        if name != "-":
            return read_facts(Path(name))
        import json

        try:
            return from_json(json.loads(sys.stdin.buffer.read()))
        except (ValueError, RecursionError) as error:
            if isinstance(error, FactsError):
                raise
            raise FactsError(f"Standard input is not JSON: {error}.") from None
    except FactsError as error:
        raise click.UsageError(str(error)) from None


def _from_here(options: MachineOptions) -> Facts:
    from pathlib import Path

    from torchlift.doctor.collect import Options, collect
    from torchlift.doctor.interpreter import PythonError, python_of

    if options.python is not None:
        try:
            python_of(options.python)
        except PythonError as error:
            raise click.BadParameter(str(error), param_hint="--python") from None
    root = Path(options.root or "/")
    if not root.is_dir():
        raise click.BadParameter(f"{options.root} is no folder.", param_hint="--root")
    return collect(
        Options(python=options.python, root=root, timeout=options.timeout, import_torch=options.import_torch)
    )


def _examination(
    facts: Facts, checks: tuple[Check, ...], wanted: str | None, question: QuestionOptions, output: OutputOptions
) -> Examination:
    from torchlift.doctor.diagnose import diagnose, without_installed_wheels
    from torchlift.doctor.examination import Examination
    from torchlift.doctor.wheel_remedy import wheel_answer

    looked_at = facts
    if wanted is not None:
        looked_at, checks = without_installed_wheels(facts, checks)
    project = None
    if question.repo is not None:
        from torchlift.doctor.repo import ProjectError, examine_project

        try:
            project = examine_project(question.repo, facts)
        except ProjectError as error:
            raise click.BadParameter(f"{error}.", param_hint="--repo") from None
    return Examination(
        facts=facts,
        findings=diagnose(looked_at, checks),
        answer=wheel_answer(facts, wanted),
        wanted=wanted,
        project=project,
        strict=output.strict,
    )


def _smokes(options: SmokeOptions, facts: Facts, output: OutputOptions) -> SmokeReport:
    from torchlift.doctor.smoke.options import run

    # Whatever needs the whole first (JSON, and names taken out) cannot be written as it comes.
    at_once = output.json or output.redact
    live = not at_once and sys.stdout.isatty()
    return run(options, facts, style=_style(output), live=live, out=None if at_once else _write)


def _about_checks(question: QuestionOptions, output: OutputOptions) -> str:
    from torchlift.doctor.catalogue import explained, listed
    from torchlift.doctor.checks import all_checks
    from torchlift.doctor.select_checks import UnknownName, check_named

    if question.explain is None:
        return listed(_checks(question), as_json=output.json)
    try:
        return explained(check_named(all_checks(), question.explain), as_json=output.json)
    except UnknownName as error:
        raise click.UsageError(str(error)) from None


def _save(facts: Facts, name: str) -> None:
    import json
    from pathlib import Path

    from torchlift.doctor.facts_json import to_json

    text = json.dumps(to_json(facts), indent=1) + "\n"
    if name == "-":
        _say(text, 0)
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"The facts cannot be written to {name}: {error.strerror or error}.") from None
    click.echo(f"The facts are in {name}.", err=True)


def _report(examination: Examination, output: OutputOptions) -> str:
    if output.json:
        from torchlift.doctor.report.json_report import render as as_json

        return as_json(examination)
    from torchlift.doctor.report.text import render

    text = render(examination, _style(output), verbose=output.verbose)
    if examination.smokes is None:
        return text
    from torchlift.doctor.smoke.report import render_smokes

    # Otherwise it has been written already, as it came.
    return f"{render_smokes(examination.smokes, _style(output))}\n{text}" if output.redact else f"\n{text}"


def _style(output: OutputOptions) -> Style:
    import shutil

    from torchlift.doctor.report.style import Style, can_write_marks
    from torchlift.terminal.color import wants_color

    # What is not on a terminal is read in files and issues, whose width nobody knows.
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    return Style(
        color=wants_color(output.color, sys.stdout), fancy=can_write_marks(sys.stdout.encoding), width=max(width, 40)
    )


def _write(text: str) -> None:
    from io import TextIOWrapper

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text)
    sys.stdout.flush()


def _say(text: str, status: int) -> None:
    """Write to standard output and exit."""
    from io import TextIOWrapper

    if isinstance(sys.stdout, TextIOWrapper):
        # Names of files and devices may hold characters that the terminal's encoding lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        import os

        # The reader has seen enough, which changes nothing about the verdict. Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
