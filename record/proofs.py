"""Waits until the provers that a command left are done, ends those that take too long, and starts those that could not start there."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

_LONGEST_FACTOR = 30
_TELL_EVERY = 20.0
_TO_START = 60.0
_FRESH = Path(__file__).parent / "prover" / "fresh.py"


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


def prove_spooled(
    spool: Path, seconds: float, environment: Mapping[str, str] | None, *, to_start: float = _TO_START
) -> None:
    """Prove what could not be proved in a copy of its process, one after the other, each in a fresh process.

    Args:
        spool: the folder, in which the proof of such a value names the interpreter of its program.
        seconds: limit of one proof; all together take at most thirty times as long.
        environment: of the command; None for that of this process.
        to_start: seconds that a process may take in addition, to import what it needs.
    """
    until = time.monotonic() + seconds * _LONGEST_FACTOR + to_start
    # What was loaded is compared with the program that was proved where it was written.
    for proof, fresh in sorted(_spooled(spool), key=lambda pair: (bool(pair[1]["loaded"]), pair[0].name)):
        limit = min(2 * seconds + to_start, until - time.monotonic())
        line = [str(fresh["python"]), str(_FRESH), str(proof)]
        problem = "timeout: others were being proved"
        try:
            if limit > 0:
                problem = f"timeout: the fresh process was still at it after {limit:.0f} seconds"
                quiet = subprocess.DEVNULL
                subprocess.run(
                    line, env=environment, stdin=quiet, stdout=quiet, stderr=quiet, timeout=limit, check=False
                )
                problem = ""
        except subprocess.TimeoutExpired:
            pass
        except OSError as error:
            problem = f"fresh process: it cannot be started: {error.strerror or error}"
        if problem:
            proof.write_text(json.dumps({"unproved": problem}), encoding="utf-8")
        for data in spool.glob(f"{proof.name}.*"):
            data.unlink(missing_ok=True)


def _spooled(spool: Path) -> Iterator[tuple[Path, Mapping[str, object]]]:
    for path in spool.glob("proof-*.json"):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            fresh = json.loads(path.read_bytes()).get("fresh")
            if isinstance(fresh, dict):
                yield path, fresh
