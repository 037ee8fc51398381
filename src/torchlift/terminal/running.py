"""How every command of torchlift runs and ends: a defect is a sentence, an interruption has its own exit status."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

import click


def run_command(command: click.Command, name: str | None) -> None:
    """Run a command and exit.

    A defect of torchlift becomes a sentence and exit status 2, Ctrl-C 130 and a request to end 143: never 1, which says that
    something was found. What was begun is cleaned up on the way out.
    """
    # Modules are read, which make no rubbish: a collector that looks for some takes a sixth of the time to start.
    gc.set_threshold(1_000_000, 20, 20)
    _mend_streams()
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", None)):
        # What was started with `nohup`, or is told to ignore a signal, goes on ignoring it.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupted)
    try:
        command(prog_name=name)
    except SystemExit as leaving:
        _leave(leaving)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in _LOST:
            click.echo(f"The output could not be written: {error.strerror}.", err=True)
            sys.exit(2)
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


# Files of a project are written and read under their names; what fails without one was meant for a stream.
_LOST = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF, errno.EFBIG}


def _interrupted(number: int, frame: object) -> None:
    # As shells do: 128 and the number of the signal. Click would make 1 of a KeyboardInterrupt.
    os.write(2, b"Interrupted.\n" if number == signal.SIGINT else b"Terminated.\n")
    sys.exit(128 + number)
