"""`torchlift migrate`, also installed as `migrate`."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from torchlift import __version__
from torchlift.migrate.flags import duration, patterns, reports
from torchlift.migrate.output_formats import FOR_PEOPLE, OUTPUT_FORMATS, WITH_EDITS, Report

if TYPE_CHECKING:
    from torchlift.migrate.cache.folder import CacheFolder
    from torchlift.migrate.result import RunResult
    from torchlift.migrate.tell.output import Manner
    from torchlift.migrate.verification.trials import Verification
    from torchlift.migrate.workspace.config import Config


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--check", "check", is_flag=True, help="Report only; write nothing.")
@click.option("--diff", "diff", is_flag=True, help="Print the changes as a patch; write nothing.")
@click.option("--unsafe-fixes", is_flag=True, default=None, help="Also apply fixes that need a human's review.")
@click.option(
    "--select", multiple=True, metavar="CODES", help="Rules to run: codes, prefixes or names, comma-separated."
)
@click.option("--ignore", multiple=True, metavar="CODES", help="Rules to leave out.")
@click.option(
    "--extend-rules",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="A file or folder of rules of your own, in the place of the configured ones; they are code, which runs.",
)
@click.option("--allow-own-rules", is_flag=True, help="Run the rules that the configuration names in extend-rules.")
@click.option("--target", metavar="VERSION", help="torch release the project moves to. [default: newest known]")
@click.option("--min-torch", metavar="VERSION", help="Lowest torch release to support. [default: found in the project]")
@click.option(
    "--batch-example",
    type=click.IntRange(min=2),
    metavar="N",
    help="Capture with a batch of N where the example has 1, which export would fix.",
)
@click.option(
    "--gpus",
    multiple=True,
    metavar="NAMES",
    help="GPUs that the project runs on, such as H100,V100: decides which wheels requirements ask for.",
)
@click.option("--driver", metavar="VERSION", help="Their NVIDIA driver, such as 580.95.05; goes with --gpus.")
@click.option(
    "--facts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The machine it runs on, as saved by torchlift doctor --save-facts, in the place of --gpus.",
)
@click.option(
    "--wrapper",
    multiple=True,
    metavar="MODULE=TORCH_MODULE",
    help="A module that mirrors one of torch, such as mylib.dist=torch.distributed.",
)
@click.option(
    "--torchscript",
    type=click.Choice(["drop", "keep"]),
    help="drop: nobody scripts, traces or loads TorchScript from this project any more. keep: somebody does.",
)
@click.option(
    "--torchscript-tests",
    type=click.Choice(["successor", "delete"]),
    help="What becomes of tests that test nothing but scripting.",
)
@click.option(
    "--torchscript-speed",
    type=click.Choice(["eager", "compile"]),
    help="What takes the place of scripting for speed. [default: eager]",
)
@click.option(
    "--torchscript-keep",
    multiple=True,
    metavar="PATTERN",
    callback=patterns,
    help="Files and artifacts that stay TorchScript, with all they reach.",
)
@click.option(
    "--evidence",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="What torchlift record has seen: also apply fixes that it proves.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Findings that are known: only others are listed and count.",
)
@click.option(
    "--write-baseline", is_flag=True, help="Write what is left to the baseline. [default: .torchlift-baseline.json]"
)
@click.option(
    "--since", metavar="REV", help="List only what is on lines changed since this revision of git; goes with --check."
)
@click.option(
    "--changed", "since", flag_value="HEAD", help="The same for lines that are not committed yet: --since HEAD."
)
@click.option(
    "--verify",
    "command",
    metavar="CMD",
    help="Try the fixes on a copy of the project, keep those with which CMD runs as it does without.",
)
@click.option(
    "--verify-runs",
    type=click.IntRange(min=4),
    default=30,
    show_default=True,
    help="Most runs of CMD; goes with --verify.",
)
@click.option(
    "--verify-timeout",
    metavar="TIME",
    callback=duration,
    default="10m",
    show_default=True,
    help="Most time that one run of CMD may take, such as 90s, 10m or 1h.",
)
@click.option(
    "--flaky", is_flag=True, help="CMD has tests that fail now and then: look three times, and twice before blaming."
)
@click.option(
    "--output-format",
    type=click.Choice(OUTPUT_FORMATS),
    help="How findings are shown. [default: full]",
)
@click.option(
    "--output-file",
    multiple=True,
    metavar="[FORMAT=]FILE",
    callback=reports,
    help="Write the findings to FILE, in FORMAT beside what is shown, else in their place.",
)
@click.option("--statistics", is_flag=True, help="Show counts per rule instead of findings.")
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    callback=patterns,
    help="Files to leave out, beside the configured ones.",
)
@click.option(
    "--force-exclude",
    is_flag=True,
    default=None,
    help="Apply excludes to explicitly named files too, and leave out those of kinds that are not read (for hooks).",
)
@click.option("--no-respect-gitignore", is_flag=True, help="Look at files that .gitignore names, too.")
@click.option("--allow-dirty", is_flag=True, default=None, help="Write files with uncommitted changes.")
@click.option("--allow-no-vcs", is_flag=True, default=None, help="Write files outside version control.")
@click.option(
    "--stdin-filename", type=click.Path(path_type=Path), help="Name of the file read from standard input (-)."
)
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Configuration file to use.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("-j", "--jobs", type=click.IntRange(min=0), help="Processes to use; 0 lets the amount of work decide.")
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="TORCHLIFT_CACHE_DIR",
    metavar="FOLDER",
    help="Where to keep what was found. [default: the user's folder for caches]",
)
@click.option(
    "--no-cache", is_flag=True, envvar="TORCHLIFT_NO_CACHE", help="Neither use nor keep what earlier runs found."
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
@click.option("-v", "--verbose", is_flag=True, help="Show every finding in full, also those that wait for another.")
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@click.version_option(__version__, "-V", "--version", prog_name="torchlift")
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
