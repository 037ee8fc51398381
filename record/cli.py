"""`torchlift record`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

_LONGEST_LOOK = 60.0


@click.command(context_settings={"allow_interspersed_args": False, "help_option_names": ["-h", "--help"]})
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The evidence file; .torchlift/evidence.json in the project unless given.",
)
@click.option("--no-prove", is_flag=True, help="Record only; prove nothing.")
@click.option(
    "--timeout-proof",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Limit of one proof; all together take at most 30 times as long.",
)
@click.option("--append", is_flag=True, help="Add to the evidence file instead of writing a new one.")
@click.option(
    "--keep-inputs",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Also write the inputs of calls there, up to 1 MiB a value: data of yours, as safetensors.",
)
@click.option(
    "--redact", is_flag=True, help="Hash names of tests and archives and the words of the command, leave out texts."
)
@click.option(
    "--times",
    is_flag=True,
    help="Also write when the command ran and how long proofs took; without them the same run gives the same file.",
)
@click.option(
    "--install",
    is_flag=True,
    help="Put the hooks into the environment of the command's Python as well, while it runs: for programs that reset their environment.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def record(
    output: Path | None,
    no_prove: bool,
    timeout_proof: float,
    append: bool,
    keep_inputs: Path | None,
    redact: bool,
    times: bool,
    install: bool,
    command: tuple[str, ...],
) -> None:
    """Run COMMAND, and write down what it does with TorchScript and torch.distributed: the evidence for `migrate`.

    \b
    torchlift record -- python train.py
    torchlift record -- pytest tests

    Exit status and output are those of COMMAND; what torchlift says goes to standard error, behind it.
    """
    from torchlift.evidence.file import EvidenceError, read_evidence, write_evidence
    from torchlift.evidence.merge import merged
    from torchlift.record.installed_hooks import NotInstalled
    from torchlift.record.running import CommandNotStarted, Recording, record
    from torchlift.record.summary import summary

    root = _root()
    path = output or root / ".torchlift" / "evidence.json"
    how = Recording(
        root,
        prove=not no_prove,
        proof_seconds=timeout_proof,
        keep_inputs=keep_inputs,
        redact=redact,
        times=times,
        install=install,
    )
    try:
        # Before the command runs for an hour: what cannot be added to is told at once.
        earlier = read_evidence(path) if append and path.exists() else None
        recorded = record(command, how)
    except (CommandNotStarted, NotInstalled, EvidenceError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    if not recorded.evidence.with_torch and path.exists():
        for line in (*summary(recorded.evidence, path), "It is from an earlier run and stays as it was."):
            click.echo(f"record: {line}", err=True)
        sys.exit(recorded.status)
    try:
        write_evidence(path, recorded.evidence if earlier is None else merged(earlier, recorded.evidence))
    except OSError as error:
        click.echo(f"The evidence file {path} cannot be written: {error.strerror or error}.", err=True)
        sys.exit(recorded.status or 2)
    for line in [*_reached(path, root), *summary(recorded.evidence, path)]:
        click.echo(f"record: {line}", err=True)
    sys.exit(recorded.status)


def _reached(path: Path, root: Path) -> list[str]:
    """How many of the places that are known without running were reached, as `torchlift evidence show` says; that
    command is asked, since this one shares no code with `migrate`.
    """
    command = [sys.executable, "-m", "torchlift", "evidence", "show", "--evidence", str(path.resolve())]
    try:
        done = subprocess.run(
            [*command, "--project", str(root)], capture_output=True, text=True, check=True, timeout=_LONGEST_LOOK
        )
    except (OSError, subprocess.SubprocessError):
        return []
    first = done.stdout.partition("\n")[0].partition(" by `")[0]
    return [first] if "known places" in first else []


def _root() -> Path:
    """Of the project: what git says, otherwise the current folder."""
    try:
        done = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False)
    except OSError:
        return Path.cwd()
    return Path(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else Path.cwd()
