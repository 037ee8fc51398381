"""What the command prints: findings, a patch or a filtered file on standard output, the summary on standard error."""

from __future__ import annotations

import sys
from collections.abc import Collection
from io import TextIOWrapper
from pathlib import Path
from typing import Literal

import click

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.output_formats import FOR_PEOPLE, OutputFormat, Report
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.tell.report import render
from torchlift.migrate.tell.report.summary import summary
from torchlift.rules.registry import url_of
from torchlift.rules.rule import Rule
from torchlift.terminal.color import wants_color
from torchlift.terminal.standard_output import why_not_written


@dataclass(frozen=True)
class Manner:
    """How a result is shown.

    Attributes:
        output_format: how findings are.
        statistics: whether counts stand in their place.
        color: when text is coloured.
        quiet: whether there is no summary.
        verbose: whether every finding is shown in full.
        files: what to write findings to; one without a format takes the place of what would be printed.
    """

    output_format: OutputFormat
    statistics: bool
    color: Literal["auto", "always", "never"]
    quiet: bool
    verbose: bool = False
    files: tuple[Report, ...] = ()


def show(result: RunResult, manner: Manner, rules: Collection[Rule], given: bytes | None) -> bool:
    """Print a result, and say whether that was possible; if not, files that were changed are named on standard error.

    Args:
        result: what the run produced.
        manner: how to show it.
        rules: all rules, which findings are named after.
        given: the bytes of a file that is to be written to standard output, as far as its fixes change it.
    """
    for stream in (sys.stdout, sys.stderr):
        # A path or a line of source may hold characters that the terminal's encoding lacks.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    problems = _write_reports(result, manner, rules)
    for problem in problems:
        click.echo(f"{problem}{_changes(result, given)}", err=True)
    unwritten = why_not_written(lambda: _show_result(result, manner, rules, given))
    if unwritten is not None:
        click.echo(f"The output could not be written: {unwritten}.{_changes(result, given)}", err=True)
    if not manner.quiet:
        shade = wants_color(manner.color, sys.stderr)
        click.echo(summary(result, root=result.root, color=shade), nl=False, err=True, color=shade)
    return unwritten is None and not problems


def _changes(result: RunResult, given: bytes | None) -> str:
    """What the run did to files, for whom the report does not reach."""
    if result.mode is not Mode.WRITE or given is not None:
        return " No file was changed."
    changed = [o.path for o in result.outcomes if o.new_text is not None and o.refused is None]
    return f" These files were changed: {', '.join(changed)}." if changed else " No file was changed."


def _show_result(result: RunResult, manner: Manner, rules: Collection[Rule], given: bytes | None) -> None:
    filtering = given is not None and result.mode is Mode.WRITE
    if result.mode is Mode.DIFF:
        _show_patch(result, manner)
    elif given is not None and filtering:
        changed = [o.shown.to_bytes() for o in result.outcomes if o.new_text is not None and o.refused is None]
        _write_bytes(changed[0] if changed else given)
    if any(chosen is None for chosen, _ in manner.files):
        return
    # A patch or a filtered file owns standard output.
    to_stderr = result.mode is Mode.DIFF or filtering
    shade = wants_color(manner.color, sys.stderr if to_stderr else sys.stdout)
    text = _counts(result, manner, rules, shade) if manner.statistics else ""
    if not manner.statistics and (result.mode is not Mode.DIFF or manner.output_format not in FOR_PEOPLE):
        text = _findings(result, manner, rules, manner.output_format, shade)
    if text:
        click.echo(text, nl=False, err=to_stderr, color=shade)


def _show_patch(result: RunResult, manner: Manner) -> None:
    from torchlift.migrate.tell.report.diff import run_patch, shown_patch

    here = Path.cwd()
    prefix = f"{result.root.relative_to(here).as_posix()}/" if here in result.root.parents else ""
    if sys.stdout.isatty():
        click.echo(shown_patch(result, prefix, color=wants_color(manner.color, sys.stdout)), nl=False)
    else:
        _write_bytes(run_patch(result, prefix))


def _write_reports(result: RunResult, manner: Manner, rules: Collection[Rule]) -> list[str]:
    """Write the files of `manner`; a sentence for each that could not be written."""
    if not manner.files:
        return []
    from torchlift.pipelines.files import problem_writing

    told = (
        problem_writing(path, _findings(result, manner, rules, chosen or manner.output_format, shade=False))
        for chosen, path in manner.files
    )
    return [problem for problem in told if problem is not None]


def _counts(result: RunResult, manner: Manner, rules: Collection[Rule], shade: bool) -> str:
    from torchlift.migrate.tell.report.statistics import render as count

    names = {rule.code: rule.name for rule in rules}
    return count(result, manner.output_format, names=names, color=shade)


def _findings(
    result: RunResult, manner: Manner, rules: Collection[Rule], output_format: OutputFormat, shade: bool
) -> str:
    names = {rule.code: rule.name for rule in rules}
    # A run with nothing to say needs no address, nor the module that knows them.
    urls = {rule.code: url for rule in rules if result.outcomes and (url := url_of(rule)) is not None}
    return render(result, output_format, root=result.root, color=shade, verbose=manner.verbose, names=names, urls=urls)


def _write_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
