"""`torchlift survey`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from torchlift.survey.data_set import DataSet
    from torchlift.survey.engine import Answers


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("targets", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--database", type=click.Path(path_type=Path, dir_okay=False), default=Path("torchlift-survey.sqlite"),
              show_default=True, metavar="FILE", help="The data set; a later survey with it looks at what has changed.")  # fmt: skip
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Also write a page.")
@click.option("--parquet", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Also write the tables as Parquet (needs the extra `survey`).")  # fmt: skip
@click.option("--format", "output_format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--target", metavar="VERSION", help="The release of torch to move to. [default: the newest known]")
@click.option(
    "--no-plan", is_flag=True, help="Leave out what leaving TorchScript takes, which costs several runs each."
)
@click.option("--engine", type=click.Choice(["processes", "dask"]), default="processes", show_default=True)
@click.option("--scheduler", metavar="ADDRESS", help="A scheduler of dask; without one a cluster is made here.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Repositories at a time. [default: CPUs]")
@click.option("--timeout", type=click.FloatRange(min=1), default=600.0, show_default=True, metavar="SECONDS",
              help="For one repository.")  # fmt: skip
@click.option("--memory", type=click.IntRange(min=0), default=4000, show_default=True, metavar="MB",
              help="For one repository; 0 for any.")  # fmt: skip
def survey(
    targets: tuple[Path, ...],
    database: Path,
    html: Path | None,
    parquet: Path | None,
    output_format: Literal["text", "json"],
    target: str | None,
    no_plan: bool,
    engine: Literal["processes", "dask"],
    scheduler: str | None,
    jobs: int | None,
    timeout: float,
    memory: int,
) -> None:
    """Look at many repositories: what breaks in them and when, what is automatic, which to migrate first.

    TARGETS are folders with a repository in them, folders of such folders, or files that list them. Nothing in them is run
    or written. Whatever becomes of one repository costs one row. Exit status: 0 nothing was found, 1 something was, 2 a
    repository could not be looked at, or the survey not be made.
    """
    from torchlift.json_records.writing import plain
    from torchlift.survey import dashboard
    from torchlift.survey.child import ChildLimits
    from torchlift.survey.data_set import WrongDataSet, opened
    from torchlift.survey.engine import NoEngine, dask, processes
    from torchlift.survey.parquet import NoParquet, write
    from torchlift.survey.summary import summarised, text
    from torchlift.survey.targets import NoTargets, repositories
    from torchlift.terminal.standard_output import why_not_written
    from torchlift.versions import TorchVersion

    if scheduler is not None and engine != "dask":
        raise click.UsageError("--scheduler goes with --engine dask.")
    try:
        if target is not None:
            TorchVersion.parse(target)
        folders = [os.fspath(path) for path in repositories(targets)]
        number = min(jobs or os.cpu_count() or 1, len(folders))
        run = dask(scheduler, number) if engine == "dask" else processes(number)
        with opened(database) as data_set:
            data_set.only(folders)
            questions: list[dict[str, Any]] = [
                {"path": path, "known": data_set.state(path), "target": target, "with_plan": not no_plan}
                for path in folders
            ]
            _keep(run(questions, ChildLimits(timeout, memory * 1_000_000)), data_set, len(questions))
            known = list(data_set.all())
            summary = summarised(known)
            if html is not None:
                html.write_text(dashboard.render(known, summary), encoding="utf-8")
            if parquet is not None:
                write(data_set, parquet)
    except (NoTargets, NoEngine, NoParquet, WrongDataSet, ValueError) as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(f"{error.filename or database}: {error.strerror or error}.") from None
    said = text(summary) if output_format == "text" else json.dumps(plain(summary), indent=2) + "\n"
    problem = why_not_written(lambda: click.echo(said, nl=False))
    sys.exit(2 if problem or summary.troubles else int(summary.findings > 0))


def _keep(answers: Answers, data_set: DataSet, number: int) -> None:
    """Keep each of `number` answers as it comes, and say how far it is where somebody looks."""
    from torchlift.terminal.progress import ProgressLine

    shown = ProgressLine() if sys.stderr.isatty() else None
    for done, (_, found) in enumerate(answers, 1):
        if found is not None:
            data_set.put(found)
        if shown is not None:
            shown.show("", done, number, "repositories")
    if shown is not None:
        shown.clear()
