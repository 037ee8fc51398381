"""`torchlift doctor`, also installed as `doctor`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

import click

from torchlift import __version__
from torchlift.doctor.command.fleet_options import FleetOptions, fleet_options
from torchlift.doctor.command.options import (
    MachineOptions,
    OutputOptions,
    QuestionOptions,
    machine_options,
    output_options,
    question_options,
)
from torchlift.doctor.smoke.parent.options import SmokeOptions, smoke_options

_Options = TypeVar("_Options")


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@machine_options
@question_options
@output_options
@smoke_options
@fleet_options
@click.version_option(__version__, "-V", "--version", prog_name="torchlift")
@click.pass_context
def doctor(context: click.Context, /, **given: Any) -> None:
    """Do this GPU, this driver, this torch and its libraries form a working set?

    If not, what is wrong and which command mends it; and which torch would be right. Nothing is changed. Exit status: 0
    healthy (warnings too), 1 problems (with --strict, warnings too), 2 torchlift or its input failed.
    """
    if context.invoked_subcommand is not None:
        _no_options_before(context)
        return
    _run(given)


def _run(given: Mapping[str, Any]) -> None:
    from torchlift.doctor.command.job import examine_as_rank, fleet_report, launch_of
    from torchlift.doctor.command.machine import examined_facts, save
    from torchlift.doctor.command.output import emit, prints_as_it_comes, report_of, say, smokes_of, style_of, tell
    from torchlift.doctor.command.question import about_checks, checks_of, examination_of, requirement_of

    machine = _read(MachineOptions, given)
    question = _read(QuestionOptions, given)
    output = _read(OutputOptions, given)
    smokes = _read(SmokeOptions, given)
    fleet = _read(FleetOptions, given)
    if smokes.list_smokes:
        from torchlift.doctor.smoke.parent.options import listed

        output.refuse_reports("--list-smokes")
        say(listed(smokes, as_json=output.json), 0)
    if smokes.wanted and (machine.facts is not None or machine.is_described):
        raise click.UsageError("Smokes run on this machine: --smoke goes neither with --facts nor with --gpu.")
    if question.explain_error is None and (question.list_checks or question.explain is not None):
        output.refuse_reports("--list-checks" if question.list_checks else "--explain")
        say(about_checks(question, output), 0)
    wanted = requirement_of(question.wanted)
    if question.explain_error is not None:
        from torchlift.doctor.command.error_question import explained_error

        say(*explained_error(question.explain_error, machine, output, wanted, given))
    if question.emit is not None and (output.format != "text" or output.files()):
        raise click.UsageError(
            "--emit writes pins and no report: leave out --json, --output-format, --output-file and --html."
        )
    output.files()
    checks = checks_of(question)
    launch = launch_of(fleet, machine, question)
    if launch is not None:
        found = examine_as_rank(launch, machine, output, smokes, fleet, checks)
        if found is None:
            sys.exit(0)
        tell(output, found.exit_code, lambda form, _: fleet_report(found, output, form, lambda: style_of(output)))
    facts = examined_facts(machine)
    facts.installing.chosen = question.install_with or facts.installing.chosen
    examination = examination_of(facts, checks, wanted, question, output)
    if smokes.wanted:
        examination = replace(examination, smokes=smokes_of(smokes, facts, output))
    if output.is_redacted:
        from torchlift.doctor.report.redact import redacted

        examination = redacted(examination)
    if machine.save_facts is not None:
        save(examination.facts, machine.save_facts)
    if question.emit is not None:
        emit(examination, question.emit)
    shown_before = prints_as_it_comes(output)
    tell(
        output,
        examination.exit_code,
        lambda form, shown: report_of(examination, output, form, smokes_are_shown=shown and shown_before),
    )


@doctor.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, dir_okay=False))
@output_options
def merge(files: tuple[str, ...], **given: Any) -> None:
    """Compare machines by their files: facts of --save-facts, or reports of --json.

    Says which differ from the majority, and what is wrong on each. Exit status: 0 healthy, 1 problems (with --strict,
    differences too), 2 a file cannot be used.
    """
    from torchlift.doctor.checks.registry import all_checks
    from torchlift.doctor.command.job import fleet_report, merged
    from torchlift.doctor.command.output import style_of, tell
    from torchlift.doctor.command.question import diagnosed

    output = _read(OutputOptions, given)
    output.files()
    fleet = merged(files, lambda facts: diagnosed(facts, all_checks(), output), strict=output.strict)
    tell(output, fleet.exit_code, lambda form, _: fleet_report(fleet, output, form, lambda: style_of(output)))


def main() -> None:
    """Entry point of the `doctor` command."""
    from torchlift.terminal.running import run_command

    run_command(doctor, "doctor")


def _read(kind: type[_Options], given: Mapping[str, Any]) -> _Options:
    return kind(**{field.name: given[field.name] for field in fields(kind)})  # type: ignore[arg-type]


def _no_options_before(context: click.Context) -> None:
    given = [
        name for name in context.params if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        flag = f"--{given[0].replace('_', '-')}"
        raise click.UsageError(
            f"{flag} stands before {context.invoked_subcommand}, where it has no effect; put it behind."
        )
