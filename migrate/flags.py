"""What the options of `torchlift migrate` mean: a configuration, and a machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchlift.migrate.output_formats import OUTPUT_FORMATS, OutputFormat, Report

if TYPE_CHECKING:
    from torchlift.migrate.workspace.config import Config
    from torchlift.torchscript_intent import Speed, Support, Tests
    from torchlift.versions import TorchVersion
    from torchlift.wheels.machine import Machine
    from torchlift.wrappers import Wrapper


def patterns(context: click.Context, option: click.Parameter, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns of files, as they are; click calls it."""
    from torchlift.search.globs import PathPatterns, PatternError

    try:
        PathPatterns(patterns)
    except PatternError as error:
        raise click.BadParameter(f"{error}.") from None
    return patterns


def reports(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[Report, ...]:
    """Files to write findings to, from `FILE` and `FORMAT=FILE`; click calls it."""
    if not values:
        return ()
    from torchlift.pipelines.files import OutputFileError, output_files

    try:
        return output_files(values, OUTPUT_FORMATS)
    except OutputFileError as error:
        raise click.BadParameter(str(error)) from None


def duration(context: click.Context, option: click.Parameter, text: str) -> float:
    """Seconds from `90`, `90s`, `10m` or `1h`; click calls it."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)([smh]?)", text.strip())
    seconds = float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]] if match is not None else 0.0
    if seconds <= 0:
        raise click.BadParameter(f"{text!r} is no length of time; write 90s, 10m or 1h.")
    return seconds


def configured(
    config: Config,
    *,
    unsafe_fixes: bool | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    extend_rules: tuple[Path, ...],
    allow_own_rules: bool,
    target: str | None,
    min_torch: str | None,
    batch_example: int | None,
    wrapper: tuple[str, ...],
    torchscript: Support | None,
    torchscript_tests: Tests | None,
    torchscript_speed: Speed | None,
    torchscript_keep: tuple[str, ...],
    evidence: Path | None,
    baseline: Path | None,
    output_format: OutputFormat | None,
    exclude: tuple[str, ...],
    force_exclude: bool | None,
    no_respect_gitignore: bool,
    allow_dirty: bool | None,
    allow_no_vcs: bool | None,
    jobs: int | None,
) -> Config:
    """The configuration with what options of the command say in the place of it; each has the name of its option.

    Raises:
        click.BadParameter: a version or a wrapper is none.
    """
    return replace(
        config,
        select=_split(select) or config.select,
        ignore=(*config.ignore, *_split(ignore)),
        extend_rules=tuple(str(path.absolute()) for path in extend_rules) or config.extend_rules,
        allow_own_rules=allow_own_rules or bool(extend_rules),
        extend_exclude=(*config.extend_exclude, *exclude),
        target=version(target, "--target", config.target),
        min_torch=version(min_torch, "--min-torch", config.min_torch),
        batch_example=config.batch_example if batch_example is None else batch_example,
        wrappers={**config.wrappers, **_wrappers(wrapper)},
        torchscript=replace(
            config.torchscript,
            support=torchscript or config.torchscript.support,
            tests=torchscript_tests or config.torchscript.tests,
            speed=torchscript_speed or config.torchscript.speed,
            keep=(*config.torchscript.keep, *torchscript_keep),
        ),
        evidence=config.evidence if evidence is None else str(evidence.absolute()),
        baseline=config.baseline if baseline is None else str(baseline.absolute()),
        unsafe_fixes=config.unsafe_fixes if unsafe_fixes is None else unsafe_fixes,
        output_format=output_format or config.output_format,
        force_exclude=config.force_exclude if force_exclude is None else force_exclude,
        respect_gitignore=config.respect_gitignore and not no_respect_gitignore,
        allow_dirty=config.allow_dirty if allow_dirty is None else allow_dirty,
        allow_no_vcs=config.allow_no_vcs if allow_no_vcs is None else allow_no_vcs,
        jobs=config.jobs if jobs is None else jobs,
    )


def refuse_contradictions(given: Mapping[str, Any]) -> None:
    """See that options do not exclude each other; `given` has those of the command by the names of its parameters.

    Raises:
        click.UsageError: they do.
    """
    piped = given["stdin_filename"] is not None
    if given["check"] and given["diff"]:
        raise click.UsageError("--check and --diff exclude each other: --check reports, --diff prints the patch.")
    if given["config_file"] is not None and given["isolated"]:
        raise click.UsageError("--config and --isolated exclude each other.")
    if given["command"] is not None and (given["check"] or piped):
        other = "--check, which applies no fix" if given["check"] else "standard input, which no command runs"
        raise click.UsageError(f"--verify does not go with {other}.")
    if given["since"] is not None and (not given["check"] or given["write_baseline"] or piped):
        raise click.UsageError("--since goes with --check, and with neither --write-baseline nor standard input.")
    if given["write_baseline"] and (given["diff"] or piped):
        raise click.UsageError("--write-baseline goes with neither --diff nor standard input, which change no file.")


def version(text: str | None, option: str, configured: TorchVersion | None) -> TorchVersion | None:
    """The release that an option names, the configured one where it names none.

    Raises:
        click.BadParameter: it is no version.
    """
    from torchlift.versions import TorchVersion

    try:
        return TorchVersion.parse(text) if text is not None else configured
    except ValueError as error:
        raise click.BadParameter(f"{error}.", param_hint=option) from None


def _split(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def _wrappers(values: Sequence[str]) -> Mapping[str, Wrapper]:
    from torchlift.wrappers import Wrapper, problem_with_wrapper

    wrappers = {}
    for value in values:
        module, equals, mirrors = (part.strip() for part in value.partition("="))
        if not equals:
            raise click.BadParameter(
                f"{value!r} names no module of torch; write {value}=torch.distributed.", param_hint="--wrapper"
            )
        problem = problem_with_wrapper(module, mirrors)
        if problem is not None:
            raise click.BadParameter(f"{problem}.", param_hint="--wrapper")
        wrappers[module] = Wrapper(module, mirrors)
    return wrappers


def described_machine(gpus: Sequence[str], driver: str | None, facts: Path | None) -> Machine | None:
    """The machine that the options describe, if they do.

    Raises:
        click.UsageError: they contradict each other, or name no machine.
    """
    names = _split(gpus)
    if facts is not None and (names or driver is not None):
        raise click.UsageError("--facts stands in the place of --gpus and --driver.")
    if driver is not None and not names:
        raise click.UsageError("--driver goes with --gpus.")
    if facts is None and not names:
        return None
    from torchlift.wheels.described_machine import MachineError, machine_in_facts, named_machine

    try:
        return machine_in_facts(facts) if facts is not None else named_machine(names, driver)
    except MachineError as error:
        raise click.BadParameter(str(error), param_hint="--facts" if facts is not None else "--gpus") from None
