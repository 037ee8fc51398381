"""Commands in the process of the tests: to start another one for each takes a second. tests/whole tries real ones."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from click.testing import CliRunner

from torchlift.cli import torchlift


def command(
    arguments: Sequence[str],
    *,
    folder: Path | None = None,
    stdin: bytes | None = None,
    environment: Mapping[str, str | None] | None = None,
    encoding: str = "utf-8",
) -> subprocess.CompletedProcess[bytes]:
    """What `torchlift ARGUMENTS` prints and returns in `folder`; a variable that is None is not set."""
    before = Path.cwd()
    os.chdir(folder or before)
    try:
        done = CliRunner(charset=encoding, env=environment).invoke(
            torchlift, list(arguments), input=stdin, prog_name="torchlift"
        )
    finally:
        os.chdir(before)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(["torchlift", *arguments], done.exit_code, done.stdout_bytes, done.stderr_bytes)


def told(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The same, as text."""
    done = command(arguments, folder=folder)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
