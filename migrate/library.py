"""A migration as a library call: everything that the command does, but for reading options and showing results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torchlift.migrate.cache.request import Request
from torchlift.migrate.cache.whole_run import WholeRun
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.workspace.config import Config, load_config
from torchlift.migrate.workspace.discover import Discovery, discover
from torchlift.migrate.workspace.root import project_root
from torchlift.notebook import read_source
from torchlift.source import SourceText
from torchlift.view.text import named_kind, read_text
from torchlift.wheels.machine import Machine

if TYPE_CHECKING:
    from torchlift.migrate.cache.folder import CacheFolder
    from torchlift.migrate.run import KnownProject
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
    cache: CacheFolder | None = None,
) -> RunResult:
    """Find code in `paths` that breaks on a newer torch, and rewrite what can be rewritten safely.

    It does what `torchlift migrate PATHS` does, files included that it does not write since they have changes or no history.

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
        cache: where earlier runs have left what they found, and this one does.

    Returns:
        What was found, file by file; see `RunResult`.

    Raises:
        ConfigError: the configuration cannot be used.
        RuleFileError: a rule of the project's own cannot be loaded.
        UnreadableSource: `given` is no text.
        VerificationFailed: `verify` says nothing about the fixes; nothing was written.
        CacheRefused: `cache` cannot be used for this project.
    """
    config = project_config(paths) if config is None else config
    found, overlay = _given(paths[0], given) if given is not None else (_named(config, paths), {})
    project_files = partial(_project_files, config, paths, found, is_listed=given is None)
    request = Request(config, paths, found, mode, want_edits, machine, project_files)
    place = WholeRun.of(cache, request) if cache is not None and given is None else None
    known = place.result() if place is not None and verify is None else None
    if known is not None and not write_baseline and config.baseline is since is None:
        return _with_nested(known, found)
    from torchlift.migrate import fresh  # imports what rules and fixes need; nothing above does

    options = replace(fresh.run_options(request), progress=progress, overlay=overlay)
    counted = fresh.counting(config, options, since, write_baseline=write_baseline)
    known = known or fresh.result(options, request, verify, place)
    known = _with_nested(known, found)
    return counted(fresh.written(known) if mode is Mode.WRITE and given is None else known)


def read_project(
    paths: Sequence[Path], config: Config, progress: Callable[[str, int, int], None] | None = None
) -> KnownProject:
    """A project for several runs that write nothing, which share what they learn of it: `run.examine` makes each.

    Args:
        paths: files and folders, at least one.
        config: what to do.
        progress: as for `migrate`.

    Raises:
        ConfigError: the configuration cannot be used.
        RuleFileError: a rule of the project's own cannot be loaded.
    """
    found = _named(config, paths)
    from torchlift.migrate import fresh

    project_files = partial(_project_files, config, paths, found, is_listed=True)
    request = Request(config, paths, found, Mode.CHECK, False, None, project_files)
    options = fresh.run_options(request)
    return fresh.read(replace(options, progress=progress), request)


def project_config(paths: Sequence[Path]) -> Config:
    """The configuration that the command would use for `paths`.

    Raises:
        ConfigError: it cannot be used.
    """
    first = paths[0]
    return load_config(first if first.is_dir() else first.parent)


def _given(path: Path, data: bytes) -> tuple[Discovery, dict[str, SourceText]]:
    """What is found where the text of one file is given, and that text by its path."""
    root = project_root([path])
    name = path.resolve().relative_to(root.resolve()).as_posix()
    if named_kind(name, data) is None:
        return Discovery(root, (name,), named=(name,)), {name: read_source(name, data)}
    return Discovery(root, (), texts=(name,), named=(name,)), {name: read_text(data)}


def _named(config: Config, paths: Sequence[Path]) -> Discovery:
    return _listed(config, paths, project_root(paths), force_exclude=config.force_exclude)


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


def _with_nested(result: RunResult, found: Discovery) -> RunResult:
    """The result with what was left out of the list."""
    if not found.nested:
        return result
    shown = ", ".join(found.nested[:3]) + (", ..." if len(found.nested) > 3 else "")
    note = f"Repositories inside this one were left out; name them to include them: {shown}."
    return replace(result, notes=(*result.notes, note))
