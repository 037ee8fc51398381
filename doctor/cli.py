"""`torchlift doctor`, also installed as `doctor`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from torchlift import __version__
from torchlift.doctor.fleet.options import FleetOptions, fleet_options
from torchlift.doctor.options import (
    MachineOptions,
    OutputOptions,
    QuestionOptions,
    machine_options,
    output_options,
    question_options,
)
from torchlift.doctor.smoke.parent.options import SmokeOptions, smoke_options

if TYPE_CHECKING:
    from torchlift.doctor.check import Check
    from torchlift.doctor.examination import Examination
    from torchlift.doctor.facts import Facts
    from torchlift.doctor.fleet.launch import Launch
    from torchlift.doctor.report.style import Style
    from torchlift.doctor.smoke.parent.report import SmokeReport

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
    machine = _read(MachineOptions, given)
    question = _read(QuestionOptions, given)
    output = _read(OutputOptions, given)
    smokes = _read(SmokeOptions, given)
    fleet = _read(FleetOptions, given)
    if smokes.list_smokes:
        from torchlift.doctor.smoke.parent.options import listed

        _say(listed(smokes, as_json=output.json), 0)
    if smokes.wanted and (machine.facts is not None or machine.is_described):
        raise click.UsageError("Smokes run on this machine: --smoke goes neither with --facts nor with --gpu.")
    if question.list_checks or question.explain is not None:
        _say(_about_checks(question, output), 0)
    checks = _checks(question)
    wanted = _requirement(question.wanted)
    launch = _launch(fleet, machine, question)
    if launch is not None:
        _as_rank(launch, machine, output, smokes, fleet, checks)
    facts = _facts(machine)
    examination = _examination(facts, checks, wanted, question, output)
    if smokes.wanted:
        examination = replace(examination, smokes=_smokes(smokes, facts, output))
    if output.redact:
        from torchlift.doctor.report.redact import redacted

        examination = redacted(examination)
    if machine.save_facts is not None:
        _save(examination.facts, machine.save_facts)
    _say(_report(examination, output), examination.exit_code)


@doctor.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, dir_okay=False))
@output_options
def merge(files: tuple[str, ...], **given: Any) -> None:
    """Compare machines by their files: facts of --save-facts, or reports of --json.

    Says which differ from the majority, and what is wrong on each. Exit status: 0 healthy, 1 problems (with --strict,
    differences too), 2 a file cannot be used.
    """
    from torchlift.doctor.checks.registry import all_checks
    from torchlift.doctor.fleet.cli import fleet_report, merged

    output = _read(OutputOptions, given)
    fleet = merged(files, lambda facts: _diagnosed(facts, all_checks(), output), strict=output.strict)
    _say(fleet_report(fleet, output, lambda: _style(output)), fleet.exit_code)


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


def _launch(fleet: FleetOptions, machine: MachineOptions, question: QuestionOptions) -> Launch | None:
    alone = machine.is_described or question.wanted is not None or question.repo is not None
    if alone or machine.save_facts is not None:
        if fleet.fleet:
            raise click.UsageError(
                "--fleet examines the machines of a job as they are: leave out --for, --repo, "
                "--save-facts, and whatever describes a machine."
            )
        return None
    from torchlift.doctor.fleet.cli import launch_of

    return launch_of(fleet)


def _as_rank(
    launch: Launch,
    machine: MachineOptions,
    output: OutputOptions,
    smokes: SmokeOptions,
    fleet: FleetOptions,
    checks: tuple[Check, ...],
) -> None:
    """Examine all machines of a job as one of its ranks, and exit."""
    from torchlift.doctor.fleet.cli import fleet_report, run_as_rank
    from torchlift.doctor.probes.examined_python import PythonError, default_python, python_of

    try:
        python = default_python() if machine.python is None else python_of(machine.python)
    except PythonError as error:
        raise click.BadParameter(str(error), param_hint="--python") from None

    def run_smokes(facts: Facts) -> list[dict[str, Any]]:
        if not smokes.wanted:
            return []
        from torchlift.doctor.smoke.parent.options import run
        from torchlift.json_records.writing import plain

        share = (launch.local_rank, launch.local_size)
        report = run(smokes, facts, style=_style(output), live=False, out=None, share=share)
        failed = (
            []
            if report.problem is None
            else [{"id": "import-torch", "device": "", "outcome": "fail", "reason": report.problem}]
        )
        return [*failed, *(plain(result) for result in report.results)]

    found = run_as_rank(
        launch,
        python=python,
        facts_file=machine.facts,
        look=lambda: _facts(machine),
        smokes=run_smokes,
        examine=lambda facts: _diagnosed(facts, checks, output),
        patience=fleet.fleet_timeout,
        strict=output.strict,
    )
    if found is None:
        sys.exit(0)
    _say(fleet_report(found, output, lambda: _style(output)), found.exit_code)


def _diagnosed(facts: Facts, checks: tuple[Check, ...], output: OutputOptions) -> Examination:
    from torchlift.doctor.diagnose import diagnose
    from torchlift.doctor.examination import Examination

    return Examination(facts=facts, findings=diagnose(facts, checks), strict=output.strict)


def _checks(question: QuestionOptions) -> tuple[Check, ...]:
    from torchlift.doctor.checks.registry import UnknownName, all_checks, selected, split_names

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
    from torchlift.doctor.facts.hypothetical import DescriptionError, described

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

    from torchlift.doctor.facts.facts_json import FactsError, from_json, read_facts

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
    from torchlift.doctor.probes.examined_python import PythonError, python_of

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
    from torchlift.doctor.remedies.wheel_remedy import fitted, wheel_answer

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
        answer=fitted(facts, wheel_answer(facts, wanted)),
        wanted=wanted,
        project=project,
        strict=output.strict,
    )


def _smokes(options: SmokeOptions, facts: Facts, output: OutputOptions) -> SmokeReport:
    from torchlift.doctor.smoke.parent.options import run

    # Whatever needs the whole first (JSON, and names taken out) cannot be written as it comes.
    at_once = output.json or output.redact
    live = not at_once and sys.stdout.isatty()
    return run(options, facts, style=_style(output), live=live, out=None if at_once else _write)


def _about_checks(question: QuestionOptions, output: OutputOptions) -> str:
    from torchlift.doctor.checks.registry import UnknownName, all_checks, check_named
    from torchlift.doctor.report.catalogue import explained, listed

    if question.explain is None:
        return listed(_checks(question), as_json=output.json)
    try:
        return explained(check_named(all_checks(), question.explain), as_json=output.json)
    except UnknownName as error:
        raise click.UsageError(str(error)) from None


def _save(facts: Facts, name: str) -> None:
    import json
    from pathlib import Path

    from torchlift.doctor.facts.facts_json import to_json

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
    from torchlift.doctor.smoke.parent.report import render_smokes

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
    except (OSError, AttributeError) as error:
        # A full disk, or no standard output at all (Python then has None).
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "standard output is closed"
        click.echo(f"The report could not be written: {reason}.", err=True)
        sys.exit(2)
    sys.exit(status)
