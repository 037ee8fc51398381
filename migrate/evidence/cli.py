"""`torchlift evidence`: what recorded runs reached, what no longer holds, two files as one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from torchlift.evidence.known import KnownRuns, KnownSite
    from torchlift.evidence.records import RecordedEvidence
    from torchlift.migrate.evidence.reach import KnownPlace

DEFAULT = Path(".torchlift/evidence.json")

_evidence = click.option(
    "--evidence",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help=f"The file of recorded runs. [default: as configured, else {DEFAULT.as_posix()}]",
)
_project = click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    help="The project. [default: here]",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def evidence() -> None:
    """Look at what torchlift record has written."""


@evidence.command()
@click.argument("site", required=False)
@_evidence
@_project
def show(site: str | None, file: Path | None, project: Path) -> None:
    """Say what no run reached, then what is known; with SITE (path:line) all about one place."""
    from torchlift.migrate.evidence.show import details, overview

    recorded, runs, places = _read(file, project)
    if site is None:
        click.echo(overview(recorded, places, runs), nl=False)
        return
    found = _named(runs, site)
    if not found:
        raise click.UsageError(f"Nothing was recorded at {site}; `torchlift evidence show` lists what was.")
    click.echo("\n".join(details(known) for known in found), nl=False)


@evidence.command()
@_evidence
@_project
def check(file: Path | None, project: Path) -> None:
    """Say what no run reached and what was recorded before the source changed. Exit status: 1 if there is any, else 0."""
    from torchlift.migrate.evidence.show import headline, outdated, unreached

    recorded, runs, places = _read(file, project)
    lines = [*unreached(places), *outdated(runs)]
    click.echo("\n".join([headline(recorded, places), "", *lines]).rstrip("\n"))
    sys.exit(1 if lines else 0)


@evidence.command()
@click.argument("first", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("second", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where to write. [default: standard output]"
)
def merge(first: Path, second: Path, output: Path | None) -> None:
    """Make one file of two; where they saw different sources, SECOND counts as the later one."""
    from torchlift.evidence.file import EvidenceError, evidence_text, read_evidence, write_evidence
    from torchlift.evidence.merge import merged

    try:
        both = merged(read_evidence(first), read_evidence(second))
    except EvidenceError as error:
        raise click.UsageError(str(error)) from None
    if output is None:
        click.echo(evidence_text(both), nl=False)
        return
    try:
        write_evidence(output, both)
    except OSError as error:
        raise click.UsageError(f"{output} cannot be written: {error.strerror or error}.") from None


def _read(file: Path | None, project: Path) -> tuple[RecordedEvidence, KnownRuns, list[KnownPlace]]:
    """The file, and what it says about the project as it stands."""
    from dataclasses import replace

    from torchlift.evidence.file import EvidenceError, read_evidence
    from torchlift.migrate.evidence.reach import places_in
    from torchlift.migrate.library import read_project
    from torchlift.migrate.workspace.config import ConfigError, load_config
    from torchlift.migrate.workspace.recorded_runs import evidence_path, seen_from_project

    try:
        config = load_config(project)
        named = str(file.absolute()) if file is not None else config.evidence or str(_default(project))
        config = replace(config, evidence=named, select=("TL1", "TL2"), jobs=config.jobs or 1)
        reading = read_project([project], config)
        recorded = seen_from_project(read_evidence(evidence_path(config)), reading.options.root)
    except (ConfigError, EvidenceError) as error:
        raise click.UsageError(str(error)) from None
    runs = reading.options.settings.evidence
    assert runs is not None
    return recorded, runs, places_in(reading.project, runs)


def _default(project: Path) -> Path:
    """Where `torchlift record` writes: at the top of the repository, unless the project has a file of its own."""
    from torchlift.migrate.workspace.root import find_root

    own = (project / DEFAULT).absolute()
    return own if own.exists() else find_root([project]) / DEFAULT


def _named(runs: KnownRuns, site: str) -> list[KnownSite]:
    """The sites that a user means: by path and line, now or as recorded, or by the beginning of their id."""
    found = []
    for known in runs:
        lines = {known.site.line, *([known.place.line] if known.place is not None else [])}
        if site in {f"{known.site.file}:{line}" for line in lines} or known.site.id.startswith(site):
            found.append(known)
    return found
