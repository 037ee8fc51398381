"""`torchlift migrate`, also installed as `migrate`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from torchlift import __version__

if TYPE_CHECKING:
    from torchlift.migrate.result import RunResult
    from torchlift.migrate.run import RunOptions
    from torchlift.migrate.workspace.config import Config
    from torchlift.migrate.workspace.discover import Discovery
    from torchlift.source import SourceText
    from torchlift.versions import TorchVersion
    from torchlift.wheels.machine import Machine
    from torchlift.wrappers import Wrapper


def _patterns(context: click.Context, option: click.Parameter, patterns: tuple[str, ...]) -> tuple[str, ...]:
    from torchlift.migrate.workspace.globs import PathPatterns, PatternError

    try:
        PathPatterns(patterns)
    except PatternError as error:
        raise click.BadParameter(f"{error}.") from None
    return patterns


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
@click.option("--min-torch", metavar="VERSION", help="Lowest torch release to support. [default: from the metadata]")
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
    "--output-format", type=click.Choice(["full", "concise", "json"]), help="How findings are shown. [default: full]"
)
@click.option("--statistics", is_flag=True, help="Show counts per rule instead of findings.")
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    callback=_patterns,
    help="Files to leave out, beside the configured ones.",
)
@click.option("--force-exclude", is_flag=True, default=None, help="Apply excludes to explicitly named files too.")
@click.option("--no-respect-gitignore", is_flag=True, help="Look at files that .gitignore names, too.")
@click.option("--allow-dirty", is_flag=True, default=None, help="Write files with uncommitted changes.")
@click.option("--allow-no-vcs", is_flag=True, default=None, help="Write files outside version control.")
@click.option(
    "--stdin-filename", type=click.Path(path_type=Path), help="Name of the file read from standard input (-)."
)
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Configuration file to use.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("-j", "--jobs", type=click.IntRange(min=0), help="Processes to use; 0 lets the amount of work decide.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@click.version_option(__version__, "-V", "--version", prog_name="torchlift")
def migrate(
    paths: tuple[Path, ...],
    check: bool,
    diff: bool,
    unsafe_fixes: bool | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    extend_rules: tuple[Path, ...],
    allow_own_rules: bool,
    target: str | None,
    min_torch: str | None,
    batch_example: int | None,
    gpus: tuple[str, ...],
    driver: str | None,
    facts: Path | None,
    wrapper: tuple[str, ...],
    output_format: Literal["full", "concise", "json"] | None,
    statistics: bool,
    exclude: tuple[str, ...],
    force_exclude: bool | None,
    no_respect_gitignore: bool,
    allow_dirty: bool | None,
    allow_no_vcs: bool | None,
    stdin_filename: Path | None,
    config_file: Path | None,
    isolated: bool,
    jobs: int | None,
    color: Literal["auto", "always", "never"],
    quiet: bool,
) -> None:
    """Find code in PATHS (default: here) that breaks on a newer torch, and rewrite what can be rewritten safely.

    Files are changed in place, unless they have uncommitted changes or are not under version control. Exit status: 0
    nothing is left, 1 findings are left (or, with --check and --diff, there are changes to make), 2 torchlift or its
    input failed.
    """
    from torchlift.migrate.find.parallel import calm_collector
    from torchlift.migrate.workspace.config import Config, ConfigError, load_config
    from torchlift.versions import TorchVersion

    if check and diff:
        raise click.UsageError("--check and --diff exclude each other: --check reports, --diff prints the patch.")
    if config_file is not None and isolated:
        raise click.UsageError("--config and --isolated exclude each other.")
    stdin = Path("-") in paths
    if stdin and (len(paths) > 1 or stdin_filename is None):
        raise click.UsageError("Standard input (-) stands alone and needs --stdin-filename.")
    if stdin_filename is not None and not stdin:
        raise click.UsageError("--stdin-filename goes with the path '-'.")
    named = [stdin_filename] if stdin and stdin_filename is not None else list(paths) or [Path()]
    root = _project_root(named)
    try:
        config = Config() if isolated else load_config(_start(named[0]), explicit=config_file)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None

    def version(text: str | None, option: str, configured: TorchVersion | None) -> TorchVersion | None:
        try:
            return TorchVersion.parse(text) if text is not None else configured
        except ValueError as error:
            raise click.BadParameter(f"{error}.", param_hint=option) from None

    config = replace(
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
        unsafe_fixes=config.unsafe_fixes if unsafe_fixes is None else unsafe_fixes,
        output_format=output_format or config.output_format,
        force_exclude=config.force_exclude if force_exclude is None else force_exclude,
        respect_gitignore=config.respect_gitignore and not no_respect_gitignore,
        allow_dirty=config.allow_dirty if allow_dirty is None else allow_dirty,
        allow_no_vcs=config.allow_no_vcs if allow_no_vcs is None else allow_no_vcs,
        jobs=config.jobs if jobs is None else jobs,
    )
    calm_collector()
    mode: Literal["check", "diff", "write"] = "check" if check else "diff" if diff else "write"
    machine = _machine(_split(gpus), driver, facts)
    result, root, given = _analyse(config, root, named, mode, stdin, machine, from_flag=min_torch is not None)
    if mode == "write" and not stdin:
        from torchlift.migrate.tell.apply import write_outcomes

        if any(outcome.new_text is not None for outcome in result.outcomes):
            result = write_outcomes(result, root)
    _report(result, root, config, statistics=statistics, given=given, color=color, quiet=quiet)
    sys.exit(result.exit_code)


def main() -> None:
    """Entry point of the `migrate` command."""
    from torchlift.terminal.running import run_command

    run_command(migrate, "migrate")


def _start(path: Path) -> Path:
    return path if path.is_dir() else path.parent


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


def _machine(names: Sequence[str], driver: str | None, facts: Path | None) -> Machine | None:
    """The machine that the options describe, if they do."""
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


def _codes(config: Config) -> tuple[frozenset[str], Callable[[str], frozenset[str]]]:
    """Codes of the rules that run, and the codes ignored for a path."""
    from torchlift.migrate.workspace.config import ConfigError, check_codes
    from torchlift.migrate.workspace.own_rules import own_rule_paths
    from torchlift.rules.own_rules import rules_with
    from torchlift.rules.registry import RuleFileError, is_asked_for, names_of, selected_by

    try:
        rules = rules_with(own_rule_paths(config)).values()
        known = names_of(rules)
        check_codes(config.select, known, "select")
        check_codes(config.ignore, known, "ignore")
        check_codes((name for names in config.per_file_ignores.values() for name in names), known, "per-file-ignores")
    except (ConfigError, RuleFileError) as error:
        raise click.UsageError(str(error)) from None

    def chosen(names: Collection[str]) -> frozenset[str]:
        return frozenset(rule.code for rule in rules for name in names if selected_by(rule, name))

    wanted = frozenset(
        rule.code
        for rule in rules
        if (any(is_asked_for(rule, name) for name in config.select) if config.select else rule.default)
    )
    active = wanted - chosen(config.ignore)
    return active, lambda path: chosen(config.ignored_in(path))


def _project_root(named: Sequence[Path]) -> Path:
    """The folder of the project that holds all `named` paths.

    The nearest folder with packaging metadata, so that a project inside a larger repository stands for itself; where
    the paths belong to several projects, or there is no metadata, the repository.
    """
    from torchlift.migrate.workspace.discover import find_root

    outer = find_root(named)
    found = set()
    for path in named:
        folder = path.absolute() if path.is_dir() else path.absolute().parent
        folder = folder.resolve()
        while not any((folder / name).is_file() for name in ("pyproject.toml", "setup.py", "setup.cfg")):
            if folder in {outer, folder.parent}:
                return outer
            folder = folder.parent
        found.add(folder)
    return found.pop() if len(found) == 1 else outer


def _analyse(
    config: Config,
    root: Path,
    named: Sequence[Path],
    mode: Literal["check", "diff", "write"],
    stdin: bool,
    machine: Machine | None,
    *,
    from_flag: bool,
) -> tuple[RunResult, Path, Mapping[str, SourceText]]:
    from torchlift.migrate.result import Mode
    from torchlift.migrate.run import RunOptions, analyse
    from torchlift.migrate.workspace.discover import Discovery, discover
    from torchlift.migrate.workspace.own_rules import own_rule_paths
    from torchlift.rules.rule import Settings
    from torchlift.source import SourceText, UnreadableSource
    from torchlift.versions import LATEST
    from torchlift.view.text import named_kind, read_text

    listing = partial(
        discover,
        exclude=config.exclude,
        extend_exclude=config.extend_exclude,
        respect_gitignore=config.respect_gitignore,
        base=config.source.parent if config.source is not None else None,
    )
    active, ignored = _codes(config)
    overlay: dict[str, SourceText] = {}
    if stdin:
        relative = named[0].resolve().relative_to(root.resolve()).as_posix()
        try:
            data = sys.stdin.buffer.read()
            is_text = named_kind(relative, data) is not None
            overlay[relative] = read_text(data) if is_text else SourceText.from_bytes(data)
        except UnreadableSource as error:
            raise click.UsageError(f"Standard input cannot be analysed: {error}.") from None
        found = Discovery(root, () if is_text else (relative,), texts=(relative,) if is_text else (), named=(relative,))
    else:
        found = listing(named, root, force_exclude=config.force_exclude)
        root = found.root
    target = config.target or LATEST
    progress = _Progress() if sys.stderr.isatty() else None
    options = RunOptions(
        root=root,
        files=found.files,
        mode=Mode(mode),
        codes=active,
        unsafe_fixes=config.unsafe_fixes,
        settings=Settings(target, config.min_torch or target, config.batch_example, config.all_wrappers, machine),
        min_torch_source=("--min-torch" if from_flag else str(config.source)) if config.min_torch else None,
        per_file_ignores=ignored,
        project_files=partial(_project_files, named, root, listing, None if stdin else found),
        guard=None if stdin else _guard(config, root),
        jobs=config.jobs or 0,
        want_edits=config.output_format == "json",
        progress=progress,
        texts=found.texts,
        named=frozenset(found.named),
        overlay=overlay,
        own_rules=own_rule_paths(config),
    )
    if config.min_torch is None:
        options = _with_bound(options, _start(named[0]))
    result = analyse(options)
    if progress is not None:
        progress.clear()
    if found.nested:
        shown = ", ".join(found.nested[:3]) + (", ..." if len(found.nested) > 3 else "")
        notes = (*result.notes, f"Repositories inside this one were left out; name them to include them: {shown}.")
        result = replace(result, notes=notes)
    return replace(result, failures=(*found.failures, *result.failures)), root, overlay


def _project_files(
    named: Sequence[Path], root: Path, listing: Callable[..., Discovery], found: Discovery | None
) -> tuple[str, ...]:
    """Python files of the projects that the named paths belong to; `found` are those of the paths themselves."""
    projects = sorted({_project_root([path]) for path in named})
    if found is not None and projects == sorted({path.resolve() for path in named}):
        return found.files
    return listing(projects, root).files


def _with_bound(options: RunOptions, start: Path) -> RunOptions:
    """The options with the lowest torch release that the metadata around `start` names, if it names one."""
    from torchlift.migrate.workspace.bounds import lowest_torch

    bound = lowest_torch(options.root, start)
    if bound is None:
        return options
    return replace(options, settings=replace(options.settings, min_torch=bound.version), min_torch_source=bound.source)


def _guard(config: Config, root: Path) -> Callable[[Sequence[str]], Mapping[str, str]]:
    def guard(files: Sequence[str]) -> Mapping[str, str]:
        from torchlift.migrate.workspace.vcs import Reason, unsafe_to_write

        refused = {}
        for path, reason in unsafe_to_write(root, files).items():
            dirty = reason in {Reason.DIRTY, Reason.FILTERED}
            if config.allow_dirty if dirty else config.allow_no_vcs:
                continue
            flag = "--allow-dirty" if dirty else "--allow-no-vcs"
            refused[path] = f"{reason.value} ({flag} writes it all the same)"
        return refused

    return guard


class _Progress:
    """A line on the terminal that says how far a long run is."""

    def __init__(self) -> None:
        from time import monotonic

        self._clock = monotonic
        self._next = monotonic() + 1
        self._shown = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = self._clock()
        if now >= self._next:
            self._next = now + 0.1
            self._shown = True
            verb = "Reading" if stage == "select" else "Checking"
            click.echo(f"\r\033[K{verb} {done} of {total} files", nl=False, err=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            click.echo("\r\033[K", nl=False, err=True)


def _report(
    result: RunResult,
    root: Path,
    config: Config,
    *,
    statistics: bool,
    given: Mapping[str, SourceText],
    color: Literal["auto", "always", "never"],
    quiet: bool,
) -> None:
    from torchlift.migrate.result import Mode
    from torchlift.migrate.tell.report import render
    from torchlift.migrate.tell.report.summary import summary
    from torchlift.migrate.workspace.own_rules import own_rule_paths
    from torchlift.rules.own_rules import rules_with
    from torchlift.rules.registry import url_of
    from torchlift.terminal.color import wants_color

    for stream in (sys.stdout, sys.stderr):
        # A path or a line of source may hold characters that the terminal's encoding lacks.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    rules = rules_with(own_rule_paths(config)).values()
    names = {rule.code: rule.name for rule in rules}
    urls = {rule.code: url for rule in rules if (url := url_of(rule)) is not None}
    filtering = bool(given) and result.mode is Mode.WRITE
    # A patch or a filtered file owns standard output.
    to_stderr = result.mode is Mode.DIFF or filtering
    if result.mode is Mode.DIFF:
        from torchlift.migrate.tell.report.diff import run_patch, shown_patch

        here = Path.cwd()
        prefix = f"{root.relative_to(here).as_posix()}/" if here in root.parents else ""
        if sys.stdout.isatty():
            click.echo(shown_patch(result, prefix, color=wants_color(color, sys.stdout)), nl=False)
        else:
            _write_bytes(run_patch(result, prefix))
    elif filtering:
        changed = {outcome.path: outcome.shown for outcome in result.outcomes if outcome.refused is None}
        for path, source in given.items():
            _write_bytes(changed.get(path, source).to_bytes())
    stream = sys.stderr if to_stderr else sys.stdout
    shade = wants_color(color, stream)
    if statistics:
        from torchlift.migrate.tell.report.statistics import render as count

        text = count(result, config.output_format, names=names, color=shade)
    elif result.mode is Mode.DIFF and config.output_format != "json":
        text = ""
    else:
        text = render(result, config.output_format, root=root, color=shade, names=names, urls=urls)
    if text:
        click.echo(text, nl=False, err=to_stderr, color=shade)
    if not quiet:
        shade = wants_color(color, sys.stderr)
        click.echo(summary(result, root=root, color=shade), nl=False, err=True, color=shade)


def _write_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
