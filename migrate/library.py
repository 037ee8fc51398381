"""A migration as a library call: everything that the command does, but for reading options and showing results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING

from torchlift.migrate import run
from torchlift.migrate.find.rule_choice import choose_rules
from torchlift.migrate.options import RunOptions
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.workspace.config import Config, load_config
from torchlift.migrate.workspace.discover import Discovery, discover
from torchlift.migrate.workspace.lowest import lowest_torch
from torchlift.migrate.workspace.root import project_root
from torchlift.migrate.workspace.vcs import refusals
from torchlift.rules.rule import Settings
from torchlift.source import SourceText
from torchlift.versions import LATEST
from torchlift.view.text import named_kind, read_text
from torchlift.wheels.machine import Machine

if TYPE_CHECKING:
    from torchlift.migrate.verification.trials import Verification


def migrate(
    paths: Sequence[Path],
    config: Config | None = None,
    *,
    mode: Mode = Mode.WRITE,
    machine: Machine | None = None,
    given: bytes | None = None,
    want_edits: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    verify: Verification | None = None,
    write_baseline: bool = False,
    since: str | None = None,
) -> RunResult:
    """Find code in `paths` that breaks on a newer torch, and rewrite what can be rewritten safely.

    It does what `torchlift migrate PATHS` does with the same configuration, files included that are not written because
    they have uncommitted changes or no history.

    Args:
        paths: files and folders, at least one.
        config: what to do; `project_config(paths)` unless given.
        mode: whether files are written, rewritten in the result only, or just checked.
        machine: what the migrated project is installed on, if that is to decide which wheels it asks for.
        given: bytes to take in the place of the one file that `paths` names, which is then not written.
        want_edits: whether the result says how the fixes that are left would edit their files.
        progress: told about every finished file: `"select"` or `"check"`, files done, files in all.
        verify: a command of the user's by which fixes are tried; those that make it fail are left out.
        write_baseline: whether what is left goes to the baseline, which then knows all of it.
        since: a revision of git's; only findings on lines that have changed since are in the result. For `Mode.CHECK`.

    Returns:
        What was found, file by file; see `RunResult`.

    Raises:
        ConfigError: the configuration cannot be used.
        RuleFileError: a rule of the project's own cannot be loaded.
        UnreadableSource: `given` is no text.
        VerificationFailed: `verify` says nothing about the fixes; nothing was written.
    """
    paths = list(paths)
    config = project_config(paths) if config is None else config
    if given is not None:
        found, overlay = _given(project_root(paths), paths[0], given)
    else:
        found = _listed(config, paths, project_root(paths), force_exclude=config.force_exclude)
        overlay = {}
    options = _options(paths, config, found, mode, machine, is_listed=given is None)
    counted = _counted(config, options, since, write_baseline=write_baseline)
    options = replace(
        _with_evidence(options, config, overlay),
        guard=_guard(config, found.root) if given is None else None,
        want_edits=want_edits,
        progress=progress,
        overlay=overlay,
    )
    reading = replace(run.read(options), failures=found.failures)
    result = _with_nested(_examined(reading, verify), found)
    return counted(_written(result) if mode is Mode.WRITE and given is None else result)


def _counted(
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
    return lambda result: reduce(lambda so_far, step: step(so_far), steps, result)


def _examined(reading: run.KnownProject, verify: Verification | None) -> RunResult:
    if verify is None:
        return run.examine(reading.options, reading)
    from torchlift.migrate.verification.verify import verified

    return verified(run.Alternatives(reading.options, reading), verify)


def read_project(
    paths: Sequence[Path], config: Config, progress: Callable[[str, int, int], None] | None = None
) -> run.KnownProject:
    """A project for several runs that write nothing, which share what they learn of it: `run.examine` makes each.

    Args:
        paths: files and folders, at least one.
        config: what to do.
        progress: as for `migrate`.

    Raises:
        ConfigError: the configuration cannot be used.
        RuleFileError: a rule of the project's own cannot be loaded.
    """
    found = _listed(config, paths, project_root(paths), force_exclude=config.force_exclude)
    options = _with_evidence(_options(paths, config, found, Mode.CHECK, None, is_listed=True), config, {})
    return replace(run.read(replace(options, progress=progress)), failures=found.failures)


def project_config(paths: Sequence[Path]) -> Config:
    """The configuration that the command would use for `paths`.

    Raises:
        ConfigError: it cannot be used.
    """
    return load_config(folder_of(paths[0]))


def folder_of(path: Path) -> Path:
    """The folder where the search for what belongs to a path begins."""
    return path if path.is_dir() else path.parent


def _given(root: Path, path: Path, data: bytes) -> tuple[Discovery, dict[str, SourceText]]:
    """What is found where the text of one file is given, and that text by its path."""
    name = path.resolve().relative_to(root.resolve()).as_posix()
    if named_kind(name, data) is None:
        return Discovery(root, (name,), named=(name,)), {name: SourceText.from_bytes(data)}
    return Discovery(root, (), texts=(name,), named=(name,)), {name: read_text(data)}


def _options(
    paths: Sequence[Path], config: Config, found: Discovery, mode: Mode, machine: Machine | None, *, is_listed: bool
) -> RunOptions:
    """What the configuration asks for, with rules and versions decided; `is_listed` as in `_project_files`."""
    choice = choose_rules(config)
    target = config.target or LATEST
    options = RunOptions(
        root=found.root,
        files=found.files,
        mode=mode,
        codes=choice.codes,
        unsafe_fixes=config.unsafe_fixes,
        settings=Settings(
            target,
            config.min_torch or target,
            config.batch_example,
            config.all_wrappers,
            machine,
            config.torchscript,
            torchfix=any(name.startswith("TOR") for name in config.select),
        ),
        min_torch_source=str(config.source or "the configuration") if config.min_torch else None,
        per_file_ignores=choice.ignored_in,
        project_files=partial(_project_files, config, paths, found, is_listed=is_listed),
        jobs=config.jobs or 0,
        texts=found.texts,
        named=frozenset(found.named),
        own_rules=choice.own_rules,
    )
    return options if config.min_torch is not None else _with_lowest(options, folder_of(paths[0]))


def _with_evidence(options: RunOptions, config: Config, overlay: Mapping[str, SourceText]) -> RunOptions:
    """The options with what recorded runs say, if the configuration names any."""
    if config.evidence is None:
        return options
    from torchlift.migrate.workspace.recorded_runs import evidence_of

    settings = replace(options.settings, evidence=evidence_of(config, options.root, overlay))
    return replace(options, settings=settings)


def _listed(config: Config, paths: Sequence[Path], root: Path, *, force_exclude: bool = False) -> Discovery:
    return discover(
        paths,
        root,
        exclude=config.exclude,
        extend_exclude=config.extend_exclude,
        force_exclude=force_exclude,
        respect_gitignore=config.respect_gitignore,
        base=config.source.parent if config.source is not None else None,
    )


def _project_files(config: Config, named: Sequence[Path], found: Discovery, *, is_listed: bool) -> tuple[str, ...]:
    """Python files of the projects that the named paths belong to; if `is_listed`, `found` are those of the paths."""
    projects = sorted({project_root([path]) for path in named})
    if is_listed and projects == sorted({path.resolve() for path in named}):
        return found.files
    return _listed(config, projects, found.root).files


def _with_lowest(options: RunOptions, start: Path) -> RunOptions:
    """The options with the lowest torch release that the files around `start` tell."""
    lowest = lowest_torch(options.root, start)
    release = min(lowest.release, options.settings.target) if lowest.at_least else lowest.release
    settings = replace(options.settings, min_torch=release, min_torch_at_least=bool(lowest.why))
    return replace(
        options, settings=settings, min_torch_source=lowest.source, min_torch_why=lowest.why, ask_code=lowest.at_least
    )


def _guard(config: Config, root: Path) -> Callable[[Sequence[str]], dict[str, str]]:
    return partial(refusals, root, allow_dirty=config.allow_dirty, allow_no_vcs=config.allow_no_vcs)


def _with_nested(result: RunResult, found: Discovery) -> RunResult:
    """The result with what was left out of the list."""
    if not found.nested:
        return result
    shown = ", ".join(found.nested[:3]) + (", ..." if len(found.nested) > 3 else "")
    note = f"Repositories inside this one were left out; name them to include them: {shown}."
    return replace(result, notes=(*result.notes, note))


def _written(result: RunResult) -> RunResult:
    if all(outcome.new_text is None for outcome in result.outcomes):
        return result
    from torchlift.migrate.tell.apply import write_outcomes

    return write_outcomes(result, result.root)
