"""Waits until the provers that a command left are done, and ends those that take too long."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

_LONGEST_FACTOR = 30
_TELL_EVERY = 20.0


def wait_for_proofs(spool: Path, seconds: float) -> None:
    """Wait for all proofs of a run, at most thirty times the limit of one; what is not done then is ended.

    Args:
        spool: the folder, in which each proof is a file that names its process while it is pending.
        seconds: limit of one proof.
    """
    until = time.monotonic() + seconds * _LONGEST_FACTOR
    told = time.monotonic()
    try:
        while pending := _pending(spool):
            if time.monotonic() > until:
                break
            if time.monotonic() - told > _TELL_EVERY:
                told = time.monotonic()
                total = len(list(spool.glob("proof-*.json")))
                print(f"Proving: {total - len(pending)} of {total} values are done.", file=sys.stderr, flush=True)
            time.sleep(0.1)
    finally:
        for process in _pending(spool):
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGTERM)


def _pending(spool: Path) -> list[int]:
    """Processes that still prove."""
    found = []
    for path in spool.glob("proof-*.json"):
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            process = json.loads(path.read_bytes()).get("pending")
            if isinstance(process, int) and process > 1:
                os.kill(process, 0)
                found.append(process)
    return found
