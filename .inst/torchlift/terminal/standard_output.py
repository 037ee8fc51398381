"""Writing the result of a command where a reader may have gone, or a disk may be full."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def why_not_written(write: Callable[[], object]) -> str | None:
    """Run `write`, which writes to standard output, and empty the buffer.

    Returns:
        Why not everything was written: a sentence without its end. None where it was, or where the reader has seen enough
        and closed the pipe, which changes nothing about what was found.
    """
    try:
        write()
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain at exit about what still stands in the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        return error.strerror or "standard output is closed"
    return None
