"""A run that knows nothing of earlier ones: the rules are chosen, the files are looked at, what was found is counted or written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from torchlift.migrate import run
from torchlift.migrate.cache.request import Request
from torchlift.migrate.cache.whole_run import WholeRun
from torchlift.migrate.find.rule_choice import choose_rules
from torchlift.migrate.options import RunOptions
from torchlift.migrate.raised_pin import with_raised_pin
from torchlift.migrate.result import RunResult
from torchlift.migrate.workspace.config import Config, ConfigError
from torchlift.migrate.workspace.inner_projects import inner_projects, inner_said
from torchlift.migrate.workspace.lowest import lowest_torch
from torchlift.rules.rule import Settings
from torchlift.versions import LATEST

if TYPE_CHECKING:
    from torchlift.migrate.remembered import EarlierChecks
    from torchlift.migrate.verification.trials import Verification


def run_options(request: Request) -> RunOptions:
    """What is asked for, with rules and versions decided.

    Raises:
        ConfigError: the configuration cannot be used.
        RuleFileError: a rule of the project's own cannot be loaded.
    """
    config, found = request.config, request.found
    choice = choose_rules(config)
    target = config.target or LATEST
    if config.min_torch is not None and config.min_torch > target:
        raise ConfigError(
            f"The lowest torch is {config.min_torch}, and the project moves to {target}, which is older: give a lower `min-torch`, or a "
            "newer `target`."
        )
    options = RunOptions(
        root=found.root,
        files=found.files,
        mode=request.mode,
        codes=choice.codes,
        unsafe_fixes=config.unsafe_fixes,
        settings=Settings(
            target,
            config.min_torch or target,
            config.batch_example,
            config.all_wrappers,
            request.machine,
            config.torchscript,
            torchfix=any(name.startswith("TOR") for name in config.select),
        ),
        min_torch_source=str(config.source or "the configuration") if config.min_torch else None,
        per_file_ignores=choice.ignored_in,
        project_files=request.project_files,
        jobs=config.jobs or 0,
        texts=found.texts,
        named=frozenset(found.named),
        own_rules=choice.own_rules,
        want_edits=request.want_edits,
    )
    return options if config.min_torch is not None else _with_lowest(options, _start(request.named[0]))


def _start(path: Path) -> Path:
    """Where the search for what says the lowest torch begins."""
    return path if path.is_dir() else path.parent


def _with_lowest(options: RunOptions, start: Path) -> RunOptions:
    """The options with the lowest torch release that the files around `start` tell."""
    lowest = lowest_torch(options.root, start)
    inner = inner_projects(options.root, (*options.files, *options.texts), lowest)
    release = min(lowest.release, options.settings.target) if lowest.at_least else lowest.release
    settings = replace(
        options.settings,
        min_torch=release,
        min_torch_at_least=bool(lowest.why) and not lowest.pinned,
        min_torch_pinned=str(lowest.source) if lowest.pinned else "",
        inner=tuple(replace(one, min_torch=min(one.min_torch, options.settings.target)) for one in inner),
    )
    return replace(
        options,
        settings=settings,
        min_torch_source=lowest.source,
        min_torch_why=(*inner_said(inner), *lowest.why),
        ask_code=lowest.at_least,
    )


def read(options: RunOptions, request: Request) -> run.KnownProject:
    """The project before anything in it is checked."""
    return replace(run.read(_with_evidence(options, request.config)), failures=request.found.failures)


def result(
    options: RunOptions, request: Request, verify: Verification | None, place: WholeRun | None = None
) -> RunResult:
    """What a run comes to, whose fixes are tried with a command of the user's if there is one; `place` is where it is kept."""
    config, root = request.config, request.found.root

    def guard(paths: Sequence[str]) -> dict[str, str]:
        from torchlift.migrate.workspace.vcs import refusals

        return refusals(root, paths, allow_dirty=config.allow_dirty, allow_no_vcs=config.allow_no_vcs)

    memory = _memory(place, request) if place is not None else None
    reading = read(replace(options, guard=None if options.overlay else guard, memory=memory), request)
    known = _examined(reading, verify)
    # A run that had to parse nothing is as cheap as an entry.
    now = place.now() if place is not None and known.files_analysed else None
    if place is not None and memory is not None and now is not None:
        memory.keep(now)
        if verify is None:
            place.keep(known, now)
    return known


def _memory(place: WholeRun, request: Request) -> EarlierChecks:
    from torchlift.migrate.remembered import EarlierChecks

    return EarlierChecks(place.folder, request.project_name(), place.before)


def _examined(reading: run.KnownProject, verify: Verification | None) -> RunResult:
    if verify is None:
        result = run.examine(reading.options, reading)
        again = with_raised_pin(reading.options, result)
        return result if again is None else run.examine(again, replace(run.read(again), failures=reading.failures))
    from torchlift.migrate.alternatives import Alternatives
    from torchlift.migrate.verification.verify import verified

    return verified(Alternatives(reading.options, reading), verify)


def _with_evidence(options: RunOptions, config: Config) -> RunOptions:
    """The options with what recorded runs say, if the configuration names any."""
    if config.evidence is None:
        return options
    from torchlift.migrate.workspace.recorded_runs import evidence_of

    settings = replace(options.settings, evidence=evidence_of(config, options.root, options.overlay))
    return replace(options, settings=settings)


def counting(
    config: Config, options: RunOptions, since: str | None, *, write_baseline: bool
) -> Callable[[RunResult], RunResult]:
    """What takes from a result what does not count: known findings, and those on old lines.

    Raises:
        ConfigError: what is known cannot be read.
    """
    steps: list[Callable[[RunResult], RunResult]] = []
    if config.baseline is not None or write_baseline:
        from torchlift.migrate.baseline import known_findings

        known = known_findings(config, options, write=write_baseline)
        steps.append(known.recording if write_baseline else known.leaving_out)
    if since is not None:
        from torchlift.migrate.changed_lines import ChangedLines

        steps.append(ChangedLines(options.root, since).only)
    if not steps:
        return lambda result: result
    from torchlift.migrate.notes import asking_of_what_is_left

    def counted(result: RunResult) -> RunResult:
        left = reduce(lambda so_far, step: step(so_far), steps, result)
        return asking_of_what_is_left(result, left, options.settings.torchscript)

    return counted


def written(result: RunResult) -> RunResult:
    """The result after its new texts were written."""
    if all(outcome.new_text is None for outcome in result.outcomes):
        return result
    from torchlift.migrate.tell.apply import write_outcomes

    return write_outcomes(result, result.root)
