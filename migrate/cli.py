"""`torchlift migrate`, also installed as `migrate`."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from torchlift.migrate.cli_options import with_options
from torchlift.migrate.output_formats import FOR_PEOPLE, WITH_EDITS, Report

if TYPE_CHECKING:
    from torchlift.migrate.cache.folder import CacheFolder
    from torchlift.migrate.result import RunResult
    from torchlift.migrate.tell.output import Manner
    from torchlift.migrate.verification.trials import Verification
    from torchlift.migrate.workspace.config import Config


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@with_options
def migrate(
    paths: tuple[Path, ...],
    check: bool,
    diff: bool,
    gpus: tuple[str, ...],
    driver: str | None,
    facts: Path | None,
    output_file: tuple[Report, ...],
    command: str | None,
    verify_runs: int,
    verify_timeout: float,
    flaky: bool,
    statistics: bool,
    stdin_filename: Path | None,
    config_file: Path | None,
    isolated: bool,
    color: Literal["auto", "always", "never"],
    verbose: bool,
    quiet: bool,
    **flags: Any,
) -> None:
    """Find code in PATHS (default: here) that breaks on a newer torch, and rewrite what can be rewritten safely.

    Files are changed in place, unless they have uncommitted changes or are not under version control. Exit status: 0
    nothing is left, 1 findings are left (or, with --check and --diff, there are changes to make), 2 torchlift or its
    input failed.
    """
    from torchlift.migrate.flags import configured, described_machine, refuse_contradictions
    from torchlift.migrate.tell.output import Manner
    from torchlift.terminal.collector import calm_collector

    refuse_contradictions(click.get_current_context().params)
    verify = _verification(
        command, verify_runs, verify_timeout, flaky, quiet or flags["output_format"] not in {None, *FOR_PEOPLE}
    )
    named = _named(paths, stdin_filename)
    counted = {name: flags.pop(name) for name in ("write_baseline", "since")}
    counted["cache"] = _cache(flags.pop("cache_dir"), flags.pop("no_cache"))
    config = configured(_config(named[0], config_file, isolated), **flags)
    calm_collector()
    given = sys.stdin.buffer.read() if stdin_filename is not None else None
    mode: Literal["check", "diff", "write"] = "check" if check else "diff" if diff else "write"
    if statistics and (output_file or config.output_format not in (*FOR_PEOPLE, "json")):
        raise click.UsageError("--statistics counts findings; it goes with the formats full, concise and json alone.")
    wants_edits = not {config.output_format, *(chosen for chosen, _ in output_file)}.isdisjoint(WITH_EDITS)
    result = _run(
        named,
        config,
        mode=mode,
        machine=described_machine(gpus, driver, facts),
        given=given,
        verify=verify,
        want_edits=wants_edits,
        **counted,
    )
    if flags["min_torch"] is not None:
        result = replace(result, min_torch_source="--min-torch")
    shown = _show(result, config, given, Manner(config.output_format, statistics, color, quiet, verbose, output_file))
    sys.exit(result.exit_code if shown else 2)


def main() -> None:
    """Entry point of the `migrate` command."""
    from torchlift.terminal.running import run_command

    run_command(migrate, "migrate")


def _config(path: Path, explicit: Path | None, isolated: bool) -> Config:
    """The configuration for a path, without what options say."""
    from torchlift.migrate.workspace.config import Config, ConfigError, load_config

    try:
        return Config() if isolated else load_config(path if path.is_dir() else path.parent, explicit=explicit)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None


def _named(paths: tuple[Path, ...], stdin_filename: Path | None) -> list[Path]:
    """The paths to look at; the name that standard input goes by, if that is read."""
    stdin = Path("-") in paths
    if stdin and (len(paths) > 1 or stdin_filename is None):
        raise click.UsageError("Standard input (-) stands alone and needs --stdin-filename.")
    if stdin_filename is None:
        return list(paths) or [Path()]
    if not stdin:
        raise click.UsageError("--stdin-filename goes with the path '-'.")
    return [stdin_filename]


def _run(named: list[Path], config: Config, *, mode: Literal["check", "diff", "write"], **how: Any) -> RunResult:
    """The library's `migrate`, with a progress line, and with errors as click words them."""
    from torchlift.migrate.cache.folder import CacheRefused
    from torchlift.migrate.library import migrate as migrated
    from torchlift.migrate.result import Mode
    from torchlift.migrate.workspace.config import ConfigError
    from torchlift.rules.registry import RuleFileError
    from torchlift.source import UnreadableSource

    progress = None
    if sys.stderr.isatty():
        from torchlift.migrate.tell.progress import Progress

        progress = Progress()
    try:
        return migrated(named, config, mode=Mode(mode), progress=progress, **how)
    except (CacheRefused, ConfigError, RuleFileError) as error:
        raise click.UsageError(str(error)) from None
    except _verification_failed() as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except UnreadableSource as error:
        raise click.UsageError(f"Standard input cannot be analysed: {error}.") from None
    finally:
        if progress is not None:
            progress.clear()


def _verification_failed() -> type[Exception]:
    """What says that fixes cannot be verified; asked for only once something was raised."""
    from torchlift.migrate.verification.failed import VerificationFailed

    return VerificationFailed


def _cache(folder: Path | None, no_cache: bool) -> CacheFolder | None:
    """Where to keep what is found; an option on the command line counts for more than a variable of the environment."""
    from torchlift.migrate.cache.folder import chosen_folder

    written = click.get_current_context().get_parameter_source
    chosen = written("cache_dir") is click.core.ParameterSource.COMMANDLINE
    if no_cache and not (chosen and written("no_cache") is not click.core.ParameterSource.COMMANDLINE):
        return None
    return chosen_folder(folder, os.environ)


def _verification(command: str | None, runs: int, timeout: float, flaky: bool, quiet: bool) -> Verification | None:
    if command is None:
        context = click.get_current_context()
        for name in ("verify_runs", "verify_timeout", "flaky"):
            if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name.replace('_', '-')} goes with --verify.")
        return None
    if not command.strip():
        raise click.UsageError("--verify needs a command, such as --verify 'pytest -q'.")
    from torchlift.migrate.verification.trials import Verification

    def say(sentence: str) -> None:
        click.echo(sentence, err=True)

    return Verification(command, runs, timeout, flaky, *([] if quiet else [say]))


def _show(
    result: RunResult,
    config: Config,
    given: bytes | None,
    manner: Manner,
) -> bool:
    from torchlift.migrate.tell.output import show
    from torchlift.migrate.workspace.own_rules import own_rule_paths
    from torchlift.rules.own_rules import rules_with

    return show(result, manner, rules_with(own_rule_paths(config)).values(), given)
