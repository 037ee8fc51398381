"""The `torchlift` command. Commands are imported when they are run, so that `--help` stays instant."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

import click

from torchlift import __version__

_COMMANDS = {
    "migrate": (
        "torchlift.migrate.cli",
        "migrate",
        "Find code that breaks on a newer torch, and rewrite what is safe.",
    ),
    "doctor": (
        "torchlift.doctor.cli",
        "doctor",
        "Examine GPUs, driver, torch and its libraries, and name the wheel that fits.",
    ),
    "rule": ("torchlift.migrate.rule_command", "rule", "Explain a rule: what, why, examples, sources."),
    "rules": ("torchlift.migrate.rule_command", "rules", "List all rules."),
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


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="torchlift")
def torchlift() -> None:
    """Upgrade and migration assistant for PyTorch code bases."""


def run_command(command: click.Command, name: str | None) -> None:
    """Run a command and exit.

    A defect of torchlift becomes a sentence and exit status 2, and Ctrl-C 130: never 1, which says that something was found.
    """
    _mend_streams()
    signal.signal(signal.SIGINT, _interrupted)
    try:
        command(prog_name=name)
    except SystemExit as leaving:
        _leave(leaving)
    except Exception as error:
        import traceback

        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{last.filename.rpartition('torchlift')[2] or last.filename}:{last.lineno}"
        click.echo(
            f"torchlift failed with a defect of its own: {type(error).__name__}: {error} (at {place}). Nothing more was "
            "written. Please report it with the command you ran; python -X dev -m torchlift shows the whole trace.",
            err=True,
        )
        if sys.flags.dev_mode:
            traceback.print_exc()
        sys.exit(2)


def _leave(leaving: SystemExit) -> NoReturn:
    """Exit without freeing every syntax tree node by node, which takes as long as reading hundreds of files.

    Whoever measures or traces the run wants to be called at its end: Python's own way out is theirs.
    """
    if not _is_watched() and (leaving.code is None or isinstance(leaving.code, int)):
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            raise leaving from None
        os._exit(leaving.code or 0)
    raise leaving


def _is_watched() -> bool:
    if sys.flags.dev_mode or sys.getprofile() is not None or sys.gettrace() is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)  # Python 3.12
    return monitoring is not None and any(monitoring.get_tool(number) for number in range(6))


def _mend_streams() -> None:
    # A shell that closed them (`>&-`) leaves None, which nothing that writes expects.
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115


def _interrupted(number: int, frame: object) -> None:
    # As shells do: 128 and the number of the signal. Click would make 1 of a KeyboardInterrupt.
    os.write(2, b"Interrupted.\n")
    sys.exit(128 + number)


def main() -> None:
    """Entry point of the `torchlift` command."""
    run_command(torchlift, "torchlift")
