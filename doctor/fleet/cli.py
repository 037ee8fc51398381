"""`torchlift doctor merge`, and what `torchlift doctor` does as one rank of a job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from torchlift.doctor.examination import Examination
    from torchlift.doctor.facts import Facts
    from torchlift.doctor.fleet.fleet import Fleet
    from torchlift.doctor.fleet.launch import Launch
    from torchlift.doctor.fleet.options import FleetOptions
    from torchlift.doctor.fleet.record import Record
    from torchlift.doctor.options import OutputOptions
    from torchlift.doctor.report.style import Style


def launch_of(options: FleetOptions) -> Launch | None:
    """The job that this process is a rank of, None for an examination of this machine alone."""
    import os

    from torchlift.doctor.fleet.launch import LaunchError, from_variables, launched

    if options.fleet is False:
        return None
    try:
        found = launched(os.environ)
        return from_variables(os.environ) if found is None and options.fleet else found
    except LaunchError as error:
        raise click.UsageError(f"{error} (--no-fleet examines this machine alone.)") from None


def fleet_report(fleet: Fleet, output: OutputOptions, style: Callable[[], Style]) -> str:
    """The report as the options want it."""
    if output.redact:
        from torchlift.doctor.fleet.redact import redacted

        fleet = redacted(fleet)
    if output.json:
        from torchlift.doctor.fleet.json_report import render as as_json

        return as_json(fleet)
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


def run_as_rank(
    launch: Launch,
    *,
    python: str,
    facts_file: str | None,
    look: Callable[[], Facts],
    smokes: Callable[[Facts], list[dict[str, Any]]],
    examine: Callable[[Facts], Examination],
    patience: float,
    strict: bool,
) -> Fleet | None:
    """Examine this rank's machine and take part in the exchange; the fleet on rank 0, None elsewhere.

    Raises:
        click.ClickException: if this rank could not reach rank 0.
    """
    import os
    from pathlib import Path
    from platform import node

    from torchlift.doctor.fleet.exchange import Patience
    from torchlift.doctor.fleet.fleet import fleet_of
    from torchlift.doctor.fleet.rank import examine_rank

    gathered = examine_rank(
        launch,
        python=python,
        environment=os.environ,
        patience=Patience(join=patience),
        node=(node() or "unknown") if facts_file is None else Path(facts_file).stem,
        look=look,
        smokes=smokes,
        speaks_for_machine=launch.local_rank == 0 or facts_file is not None,
        is_here=facts_file is None,
    )
    if launch.rank == 0:
        return fleet_of(
            gathered.records,
            examine,
            missing=gathered.missing,
            collectives=gathered.collectives,
            error=gathered.error,
            strict=strict,
        )
    if gathered.error is not None:
        raise click.ClickException(f"Rank {launch.rank} of {launch.world_size}: {gathered.error}.")
    return None
