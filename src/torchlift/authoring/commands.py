"""`torchlift rule` and `torchlift rules`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from torchlift.rules.rule import Rule

_Command = TypeVar("_Command", bound=Callable[..., None])


def _own_rules_options(command: _Command) -> _Command:
    """Options that say which rules outside torchlift are meant too."""
    allowed = click.option("--allow-own-rules", is_flag=True, help="Run the rules that the configuration here names.")
    named = click.option(
        "--extend-rules",
        multiple=True,
        type=click.Path(path_type=Path, exists=True),
        help="A file or folder of rules outside torchlift; they are code, which runs.",
    )
    return allowed(named(command))


def _codes(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from torchlift.rules.rule_index import indexed_rules

    wanted = incomplete.lower()
    return [
        CompletionItem(code, help=rule.name)
        for code, rule in indexed_rules().items()
        if code.lower().startswith(wanted) or (wanted and rule.name.startswith(wanted))
    ]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("code", metavar="CODE", shell_complete=_codes)
@click.argument("name", required=False)
@click.option(
    "--new", is_flag=True, help="Begin the rule NAME with CODE, or with the next free code such as TL4 or X1."
)
@click.option("--test", "try_it", is_flag=True, help="Try the examples of the rule CODE, or of the rule in a file.")
@click.option("--folder", type=click.Path(path_type=Path), help="Where a new rule of your own stands; goes with --new.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@_own_rules_options
def rule(
    code: str,
    name: str | None,
    new: bool,
    try_it: bool,
    folder: Path | None,
    output_format: str,
    extend_rules: tuple[Path, ...],
    allow_own_rules: bool,
) -> None:
    """Explain the rule CODE: a code, a name, or another tool's code.

    With --new write the file of a new rule, with --test try its examples: found, left alone, rewritten as shown, and run
    under torch before and after where torch is installed. Exit status of --test: 0 all hold, 1 some do not.
    """
    if new and try_it:
        raise click.UsageError("--new and --test exclude each other.")
    if (name is not None) != new:
        raise click.UsageError(
            "A new rule has a name: torchlift rule --new TL4 old-solver." if new else "Name one rule."
        )
    if folder is not None and not new:
        raise click.UsageError("--folder goes with --new.")
    if name is not None:
        _begin(code, name, folder)
    elif try_it:
        sys.exit(_try(code, extend_rules, allow_own_rules))
    else:
        _explain(code, output_format, _all_rules(extend_rules, allow_own_rules))


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--free", is_flag=True, help="List the next free code of each family instead.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@_own_rules_options
def rules(free: bool, output_format: str, extend_rules: tuple[Path, ...], allow_own_rules: bool) -> None:
    """List all rules."""
    if free:
        from torchlift.authoring.scaffold import free_codes

        codes = free_codes()
        lines = [f"{family}  {code}" for family, code in codes.items()]
        click.echo(json.dumps(dict(codes), indent=2) if output_format == "json" else "\n".join(lines))
        return
    from torchlift.rules.catalogue import as_data

    known = _all_rules(extend_rules, allow_own_rules).values()
    if output_format == "json":
        click.echo(json.dumps([as_data(item) for item in known], indent=2))
        return
    width = max(len(item.name) for item in known)
    for item in known:
        click.echo(f"{item.code}  {item.name:<{width}}  {item.summary}")


def _own_paths(extend_rules: tuple[Path, ...], allowed: bool) -> tuple[Path, ...]:
    """The files and folders of rules outside torchlift that the options name or allow."""
    if not allowed:
        return tuple(path.absolute() for path in extend_rules)
    from dataclasses import replace

    from torchlift.migrate.workspace.config import ConfigError, load_config
    from torchlift.migrate.workspace.own_rules import own_rule_paths

    try:
        configured = own_rule_paths(replace(load_config(Path()), allow_own_rules=True))
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    return (*configured, *(path.absolute() for path in extend_rules))


def _all_rules(extend_rules: tuple[Path, ...], allowed: bool) -> Mapping[str, Rule]:
    from torchlift.rules.own_rules import own_rules
    from torchlift.rules.registry import RuleFileError, all_rules

    try:
        return {**all_rules(), **own_rules(_own_paths(extend_rules, allowed))}
    except RuleFileError as error:
        raise click.UsageError(str(error)) from None


def _explain(code: str, output_format: str, known: Mapping[str, Rule]) -> None:
    from torchlift.rules.catalogue import as_data, as_markdown
    from torchlift.rules.registry import selected_by

    found = [item for item in known.values() if code.upper() in {item.code, *item.aliases} or code == item.name]
    if not found:
        family = [item.code for item in known.values() if selected_by(item, code.upper())]
        if family:
            raise click.UsageError(f"{code!r} stands for several rules; name one of {', '.join(family)}.")
        names = [name for item in known.values() for name in (item.code, item.name, *item.aliases)]
        close = get_close_matches(code, names, n=3)
        hint = f" Did you mean {', '.join(close)}?" if close else " `torchlift rules` lists them all."
        raise click.UsageError(f"There is no rule {code!r}.{hint}")
    for item in found:
        click.echo(json.dumps(as_data(item), indent=2) if output_format == "json" else as_markdown(item), nl=False)
        if output_format == "json":
            click.echo()


def _begin(wanted: str, name: str, folder: Path | None) -> None:
    from torchlift.authoring.scaffold import ScaffoldError, new_rule

    try:
        path = new_rule(wanted, name, folder, Path())
    except (ScaffoldError, OSError) as error:
        raise click.UsageError(str(error)) from None
    path = path.absolute()
    path = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    click.echo(f"{path}\nFill in what stands in <...>, then: torchlift rule --test {path}")


def _try(meant: str, extend_rules: tuple[Path, ...], allowed: bool) -> int:
    from torchlift.authoring.checkout import use_checkout_of

    use_checkout_of(meant, Path())  # before anything of the rules is imported
    from torchlift.authoring.chosen import find_rule
    from torchlift.authoring.trial_report import try_and_report
    from torchlift.rules.registry import RuleFileError

    try:
        chosen = find_rule(meant, _own_paths(extend_rules, allowed))
    except RuleFileError as error:
        raise click.UsageError(str(error)) from None
    return try_and_report(chosen)
