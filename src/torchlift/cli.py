"""The `torchlift` command. Commands are imported when they are run, so that `--help` stays instant."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import click

from torchlift import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_COMMANDS = {
    "migrate": (
        "torchlift.migrate.cli",
        "migrate",
        "Find code that breaks on a newer torch, and rewrite what is safe.",
    ),
    "plan": (
        "torchlift.migrate.plan.cli",
        "plan",
        "Say what leaving TorchScript takes: questions that only you can answer, and what each answer decides.",
    ),
    "doctor": (
        "torchlift.doctor.cli",
        "doctor",
        "Examine GPUs, driver, torch and its libraries, and name the wheel that fits.",
    ),
    "record": (
        "torchlift.record.cli",
        "record",
        "Run a command and write down what it does with TorchScript: evidence for migrate.",
    ),
    "evidence": (
        "torchlift.migrate.evidence.cli",
        "evidence",
        "Show what torchlift record has written: what no run reached, what is proven, what no longer holds.",
    ),
    "convert": (
        "torchlift.convert.road.cli",
        "convert",
        "Make ExportedPrograms of TorchScript archives, compared with them output by output.",
    ),
    "inspect": (
        "torchlift.convert.inspection.cli",
        "inspect",
        "Say what a model's file is and what is in it, without torch and without running any of it.",
    ),
    "survey": (
        "torchlift.survey.cli",
        "survey",
        "Look at many repositories: what breaks when, what is automatic, which to migrate first.",
    ),
    "server": (
        "torchlift.server.cli",
        "server",
        "Speak the Language Server Protocol: findings and fixes in an editor, while you type.",
    ),
    "clean": ("torchlift.migrate.cache.cli", "clean", "Remove what migrate keeps of its runs."),
    "rule": ("torchlift.authoring.commands", "rule", "Explain a rule, begin a new one, or try its examples."),
    "rules": ("torchlift.authoring.commands", "rules", "List all rules."),
    "help": (
        "torchlift.help",
        "show_help",
        "Show a page of the documentation, or what there is about a rule, a check or an error.",
    ),
    "completion": (
        "torchlift.terminal.completion",
        "completion",
        "Print or install what bash, zsh or fish completes these commands with.",
    ),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and loads one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command `cmd_name`, or None."""
        if cmd_name not in _COMMANDS:
            return None
        module, attribute, _ = _COMMANDS[cmd_name]
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in help without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name][2]) for name in sorted(_COMMANDS)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What may come next, without loading a command."""
        from click.shell_completion import CompletionItem

        names = [name for name in sorted(_COMMANDS) if name.startswith(incomplete)]
        return [
            *(CompletionItem(name, help=_COMMANDS[name][2]) for name in names),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click, with a suggestion for a mistyped command."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], _COMMANDS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else f" Commands: {', '.join(sorted(_COMMANDS))}."
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("-V", "--version", is_flag=True, help="Show the version and exit.")
@click.option("--verbose", is_flag=True, help="With --version: also what torchlift runs on, to paste into a report.")
@click.pass_context
def torchlift(ctx: click.Context, version: bool, verbose: bool) -> None:
    """Upgrade and migration assistant for PyTorch code bases."""
    if verbose and not version:
        raise click.UsageError("--verbose goes with --version here; commands have their own, behind their name.")
    if version:
        if verbose:
            from torchlift.terminal.version import what_it_runs_on

            click.echo(what_it_runs_on())
        else:
            click.echo(f"torchlift, version {__version__}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        raise click.UsageError("Missing command.")


def main() -> None:
    """Entry point of the `torchlift` command."""
    from torchlift.terminal.running import run_command

    run_command(torchlift, "torchlift")
