"""What `torchlift doctor` does as one rank of a job, and `torchlift doctor merge` with the files of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from torchlift.doctor.check import Check
    from torchlift.doctor.command.fleet_options import FleetOptions
    from torchlift.doctor.command.options import DoctorFormat, MachineOptions, OutputOptions, QuestionOptions
    from torchlift.doctor.examination import Examination
    from torchlift.doctor.facts import Facts
    from torchlift.doctor.fleet.fleet import Fleet
    from torchlift.doctor.fleet.launch import Launch
    from torchlift.doctor.fleet.record import Record
    from torchlift.doctor.smoke.parent.options import SmokeOptions
    from torchlift.terminal.style import Style


def launch_of(fleet: FleetOptions, machine: MachineOptions, question: QuestionOptions) -> Launch | None:
    """The job that this process is a rank of, None for an examination of this machine alone."""
    alone = machine.is_described or question.wanted is not None or question.repo is not None
    alone = alone or question.emit is not None or question.install_with is not None
    if alone or machine.save_facts is not None:
        if fleet.fleet:
            raise click.UsageError(
                "--fleet examines the machines of a job as they are: leave out --for, --repo, "
                "--emit, --install-with, --save-facts, and whatever describes a machine."
            )
        return None
    import os

    from torchlift.doctor.fleet.launch import LaunchError, from_variables, launched

    if fleet.fleet is False:
        return None
    try:
        found = launched(os.environ)
        return from_variables(os.environ) if found is None and fleet.fleet else found
    except LaunchError as error:
        raise click.UsageError(f"{error} (--no-fleet examines this machine alone.)") from None


def fleet_report(fleet: Fleet, output: OutputOptions, form: DoctorFormat, style: Callable[[], Style]) -> str:
    """The report in one form."""
    if output.is_redacted or form == "markdown":
        from torchlift.doctor.fleet.redact import redacted

        fleet = redacted(fleet)
    if form == "html":
        from torchlift.doctor.fleet.page import render as as_page

        return as_page(fleet)
    if form == "markdown":
        from torchlift.doctor.fleet.markdown import render as as_markdown

        return as_markdown(fleet)
    if form == "json":
        from torchlift.doctor.fleet.json_report import render as as_json

        return as_json(fleet)
    if form in ("github", "junit"):
        from torchlift.doctor.fleet.in_ci import render as in_ci

        return in_ci(fleet, form)
    from torchlift.doctor.fleet.text_report import render

    return render(fleet, style(), verbose=output.verbose)


def merged(files: Sequence[str], examine: Callable[[Facts], Examination], *, strict: bool) -> Fleet:
    """The machines of these files."""
    from pathlib import Path

    from torchlift.doctor.facts.facts_json import FactsError
    from torchlift.doctor.fleet.fleet import fleet_of
    from torchlift.doctor.fleet.merge import records_of

    try:
        records: list[Record] = records_of([Path(file) for file in files])
    except FactsError as error:
        raise click.UsageError(str(error)) from None
    return fleet_of(records, examine, strict=strict)


def examine_as_rank(
    launch: Launch,
    machine: MachineOptions,
    output: OutputOptions,
    smokes: SmokeOptions,
    fleet: FleetOptions,
    checks: tuple[Check, ...],
) -> Fleet | None:
    """Examine this rank's machine and take part in the exchange; the fleet on rank 0, None elsewhere.

    Raises:
        click.ClickException: if this rank could not reach rank 0.
    """
    import os
    from dataclasses import replace
    from pathlib import Path
    from platform import node

    from torchlift.doctor.command.machine import examined_facts
    from torchlift.doctor.command.output import style_of
    from torchlift.doctor.command.question import diagnosed
    from torchlift.doctor.fleet.exchange import Patience
    from torchlift.doctor.fleet.fleet import fleet_of
    from torchlift.doctor.fleet.rank import examine_rank

    burn = smokes.smoke == "burn"
    # Ranks burn for as long as they are told to, and their links are tried with more than a few bytes.
    patience = Patience(join=fleet.fleet_timeout)
    if burn:
        longer = patience.examination + 4 * smokes.burn_seconds
        patience = replace(patience, examination=longer, collective=3 * patience.collective)
    gathered = examine_rank(
        launch,
        python=_python(machine),
        environment=os.environ,
        patience=patience,
        node=(node() or "unknown") if machine.facts is None else Path(machine.facts).stem,
        look=lambda: examined_facts(machine),
        smokes=lambda facts: _smokes(launch, smokes, facts, style_of(output)),
        speaks_for_machine=launch.local_rank == 0 or machine.facts is not None,
        is_here=machine.facts is None,
        burn=burn,
    )
    if launch.rank == 0:
        return fleet_of(
            gathered.records,
            lambda facts: diagnosed(facts, checks, output),
            missing=gathered.missing,
            collectives=gathered.collectives,
            error=gathered.error,
            strict=output.strict,
        )
    if gathered.error is not None:
        raise click.ClickException(f"Rank {launch.rank} of {launch.world_size}: {gathered.error}.")
    return None


def _python(machine: MachineOptions) -> str:
    from torchlift.doctor.probes.examined_python import PythonError, default_python, python_of

    try:
        return default_python() if machine.python is None else python_of(machine.python)
    except PythonError as error:
        raise click.BadParameter(str(error), param_hint="--python") from None


def _smokes(launch: Launch, smokes: SmokeOptions, facts: Facts, style: Style) -> list[dict[str, Any]]:
    """The smokes that this rank runs: its share of those that its machine's ranks run together."""
    if not smokes.wanted:
        return []
    from torchlift.doctor.smoke.parent.options import run
    from torchlift.json_records.writing import plain

    share = (launch.local_rank, launch.local_size)
    # Once for the job, not by every rank.
    report = run(smokes, facts, style=style, live=False, out=None, share=share, tell=launch.rank == 0)
    failed = (
        []
        if report.problem is None
        else [{"id": "import-torch", "device": "", "outcome": "fail", "reason": report.problem}]
    )
    return [*failed, *(plain(result) for result in report.results)]
