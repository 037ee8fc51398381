"""`torchlift plan`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click

from torchlift.migrate.flags import patterns

if TYPE_CHECKING:
    from torchlift.migrate.plan.report import PlanReport
    from torchlift.migrate.workspace.config import Config

PlanFormat = Literal["text", "markdown", "json", "html", "github", "junit"]
PLAN_FORMATS: tuple[PlanFormat, ...] = get_args(PlanFormat)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--ask", is_flag=True, help="Ask the questions and write the answers into pyproject.toml.")
@click.option(
    "--output-format",
    "--format",
    "output_format",
    type=click.Choice(PLAN_FORMATS),
    default="text",
    show_default=True,
    help="How the plan is shown; markdown is for an issue or a pull request.",
)
@click.option(
    "--output-file",
    multiple=True,
    metavar="[FORMAT=]FILE",
    help="Write the plan to FILE, in FORMAT beside what is shown, else in its place.",
)
@click.option("--html", metavar="FILE", help="Write the plan as one page for a browser, too.")
@click.option(
    "--evidence",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="What torchlift record has seen: what is proven counts as fixable.",
)
@click.option("--min-torch", metavar="VERSION", help="Lowest torch release to support. [default: from the metadata]")
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    callback=patterns,
    help="Files to leave out, beside the configured ones.",
)
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Configuration file to use.")
@click.option(
    "--allow-own-rules", is_flag=True, help="Go on although the configuration names rules of the project's own."
)
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("-j", "--jobs", type=click.IntRange(min=0), help="Processes to use; 0 lets the amount of work decide.")
@click.option("-v", "--verbose", is_flag=True, help="Show every row of the text, which else fits two screens.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def plan(
    paths: tuple[Path, ...],
    ask: bool,
    output_format: PlanFormat,
    output_file: tuple[str, ...],
    html: str | None,
    evidence: Path | None,
    min_torch: str | None,
    exclude: tuple[str, ...],
    config_file: Path | None,
    allow_own_rules: bool,
    isolated: bool,
    jobs: int | None,
    verbose: bool,
    color: Literal["auto", "always", "never"],
) -> None:
    """Say what it takes to leave TorchScript in PATHS (default: here): first the questions that only you can answer.

    Nothing is written, but for the answers with --ask. Exit status: 0 there is nothing to ask or to do, 1 there is,
    2 torchlift or its input failed.
    """
    from dataclasses import replace

    from torchlift.migrate.workspace.config import Config, ConfigError, load_config
    from torchlift.terminal.collector import calm_collector

    if config_file is not None and isolated:
        raise click.UsageError("--config and --isolated exclude each other.")
    if ask and isolated:
        raise click.UsageError("--ask writes into the configuration that --isolated leaves out.")
    if ask and output_format != "text":
        raise click.UsageError("--ask goes with --output-format text: it asks on the terminal.")
    if ask and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("--ask needs a terminal: without one, write the answers into pyproject.toml yourself.")
    files = _files(output_file, html)
    if ask and any(chosen is None for chosen, _ in files):
        raise click.UsageError("--ask asks on the terminal: name the format of --output-file, such as json=FILE.")
    named = list(paths) or [Path()]
    start = named[0] if named[0].is_dir() else named[0].parent
    try:
        config = Config() if isolated else load_config(start, explicit=config_file)
        config = replace(config, allow_own_rules=allow_own_rules)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    calm_collector()
    report = _drawn_up(named, _with_options(config, evidence, min_torch, exclude, jobs))
    problems = _show(report, named, output_format, files, color, verbose)
    if ask and report.questions:
        from torchlift.migrate.plan.ask import ask_and_write

        ask_and_write(report, named, config)
    for problem in problems:
        click.echo(problem, err=True)
    sys.exit(2 if report.failures or problems else 1 if report.has_work else 0)


def _with_options(
    config: Config, evidence: Path | None, min_torch: str | None, exclude: tuple[str, ...], jobs: int | None
) -> Config:
    from dataclasses import replace

    from torchlift.migrate.flags import version

    return replace(
        config,
        evidence=config.evidence if evidence is None else str(evidence.absolute()),
        min_torch=version(min_torch, "--min-torch", config.min_torch),
        extend_exclude=(*config.extend_exclude, *exclude),
        jobs=config.jobs if jobs is None else jobs,
    )


def _drawn_up(named: list[Path], config: Config) -> PlanReport:
    from torchlift.migrate.plan.draw_up import draw_up
    from torchlift.migrate.tell.progress import Progress
    from torchlift.migrate.workspace.config import ConfigError
    from torchlift.rules.registry import RuleFileError

    progress = Progress() if sys.stderr.isatty() else None

    def step(name: str) -> Progress | None:
        if progress is not None:
            progress.stage = name
        return progress

    try:
        return draw_up(named, config, step)
    except (ConfigError, RuleFileError) as error:
        raise click.UsageError(str(error)) from None
    finally:
        if progress is not None:
            progress.clear()


def _files(output_file: tuple[str, ...], html: str | None) -> tuple[tuple[PlanFormat | None, Path], ...]:
    from torchlift.pipelines.files import OutputFileError, output_files

    try:
        return output_files([*output_file, *([f"html={html}"] if html is not None else [])], PLAN_FORMATS)
    except OutputFileError as error:
        raise click.UsageError(str(error)) from None


def _show(
    report: PlanReport,
    named: list[Path],
    output_format: PlanFormat,
    files: tuple[tuple[PlanFormat | None, Path], ...],
    color: Literal["auto", "always", "never"],
    verbose: bool,
) -> list[str]:
    """Print and write the plan; a sentence for each file that could not be written."""
    from torchlift.migrate.workspace.root import project_root
    from torchlift.pipelines.files import problem_writing
    from torchlift.terminal.color import wants_color

    root = project_root(named)
    if all(chosen is not None for chosen, _ in files):
        shade = wants_color(color, sys.stdout)
        click.echo(_rendered(report, root, output_format, verbose, color=shade), nl=False, color=shade)
    told = (
        problem_writing(path, _rendered(report, root, chosen or output_format, verbose, color=False))
        for chosen, path in files
    )
    return [problem for problem in told if problem is not None]


def _rendered(report: PlanReport, root: Path, output_format: PlanFormat, verbose: bool, *, color: bool) -> str:
    from torchlift.migrate.plan import show

    if output_format == "json":
        import json

        from torchlift.json_records.writing import plain

        return json.dumps(plain(report), indent=2) + "\n"
    if output_format == "markdown":
        return show.markdown(report)
    if output_format == "html":
        from torchlift.migrate.plan import page

        return page.render(report)
    if output_format == "text":
        return show.text(report, root, color=color, verbose=verbose)
    from torchlift.migrate.plan import in_ci

    return in_ci.as_annotations(report, root) if output_format == "github" else in_ci.as_junit(report, root)
