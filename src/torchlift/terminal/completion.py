"""`torchlift completion`: what Tab offers in bash, zsh and fish."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from click.shell_completion import get_completion_class

_PROGRAMS = ("torchlift", "migrate", "doctor")
_NAMES = {"bash": "{}", "zsh": "_{}", "fish": "{}.fish"}


def _folder(shell: str) -> Path:
    """Where the shell looks for completions of this user by itself; for zsh, where it looks once it is told to.

    bash: `completions` below `BASH_COMPLETION_USER_DIR`, of the package bash-completion (its README at commit 017cafb). fish:
    `$XDG_CONFIG_HOME/fish/completions` (its `doc_src/completions.rst` at commit 040ec88, "Where to put completions"); both read
    2026-11-24. zsh has no folder of the user's.
    """
    if shell == "bash":
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
        return Path(os.environ.get("BASH_COMPLETION_USER_DIR") or Path(data, "bash-completion")) / "completions"
    if shell == "fish":
        return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "fish/completions")
    return Path(os.environ.get("ZDOTDIR") or Path.home(), ".zfunc")


def script(shell: str, program: str) -> str:
    """What a shell has to read to complete `program`.

    Raises:
        RuntimeError: the bash found is older than 4.4 and cannot.
    """
    found = get_completion_class(shell)
    assert found is not None
    return found(click.Command(program), {}, program, f"_{program.upper()}_COMPLETE").source()


def _installed(shell: str, program: str) -> str:
    """The same as a file in its folder.

    zsh runs such a file as the function that is called like it. Click's (8.5.1) completes when the file is read, but only registers
    its function when it is called for the second time, at a Tab that then does nothing.
    """
    text = script(shell, program)
    if shell != "zsh":
        return text
    return f'{text.partition("if [[ $zsh_eval_context")[0]}_{program}_completion "$@"\n'


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("shell", type=click.Choice(list(_NAMES)))
@click.option("--install", is_flag=True, help="Write it where the shell looks for completions of yours.")
def completion(shell: str, install: bool) -> None:
    """Print what SHELL reads to complete torchlift, migrate and doctor; with --install, put it in its place.

    Files of yours are not edited: what a start-up file has to say is printed.
    """
    if not install:
        click.echo("\n".join(script(shell, program) for program in _PROGRAMS))
        return
    from torchlift.whole_file import write_whole

    folder = _folder(shell)
    try:
        for program in _PROGRAMS:
            write_whole(folder / _NAMES[shell].format(program), _installed(shell, program).encode())
    except OSError as error:
        click.echo(f"The completions cannot be written to {folder}: {error.strerror or error}.", err=True)
        sys.exit(2)
    click.echo(f"Completions of {', '.join(_PROGRAMS)} for {shell} are in {folder}.")
    if shell == "bash":
        click.echo("They are read by the package bash-completion, in shells that start from now on.")
    elif shell == "zsh":
        click.echo(f"In .zshrc, before compinit: fpath+={folder}; autoload -Uz compinit && compinit")
