"""Waits until the provers that a command left are done, ends those that take too long, and starts those that could not start there."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
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
    """Prove what could not be proved in a copy of its process, each in a fresh process, up to four side by side.

    Args:
        spool: the folder, in which the proof of such a value names the interpreter of its program.
        seconds: limit of one proof; all together take at most thirty times as long.
        environment: of the command; None for that of this process.
        to_start: seconds that a process may take in addition, to import what it needs.
    """
    until = time.monotonic() + seconds * _LONGEST_FACTOR + to_start
    spooled = dict(_spooled(spool))
    written = deque(sorted(proof for proof, fresh in spooled.items() if not fresh["loaded"]))
    # What was loaded is compared with the program that was proved where it was written.
    loaded = deque(sorted(proof for proof, fresh in spooled.items() if fresh["loaded"]))
    provers: list[_Prover] = []
    try:
        while written or loaded or provers:
            provers = [prover for prover in provers if not prover.is_done()]
            turn = written or (loaded if not any(not prover.loaded for prover in provers) else None)
            if turn and len(provers) < _side_by_side():
                proof = turn.popleft()
                limit = min(2 * seconds + to_start, until - time.monotonic())
                provers.append(_Prover(proof, spooled[proof], environment, limit))
            else:
                time.sleep(0.05)
    finally:
        for prover in provers:
            prover.stop()


def _side_by_side() -> int:
    """Each imports torch and compiles on a core or two; each that uses a GPU takes a part of its memory."""
    return max(1, min(4, (os.cpu_count() or 1) // 2))


class _Prover:
    """A fresh process at one proof."""

    def __init__(
        self, proof: Path, fresh: Mapping[str, object], environment: Mapping[str, str] | None, limit: float
    ) -> None:
        self.loaded = bool(fresh["loaded"])
        self._proof, self._limit, self._until = proof, limit, time.monotonic() + limit
        self._process: subprocess.Popen[bytes] | None = None
        quiet = subprocess.DEVNULL
        try:
            if limit <= 0:
                self._give_up("timeout: others were being proved")
            else:
                line = [str(fresh["python"]), str(_FRESH), str(proof)]
                self._process = subprocess.Popen(line, env=environment, stdin=quiet, stdout=quiet, stderr=quiet)
        except OSError as error:
            self._give_up(f"fresh process: it cannot be started: {error.strerror or error}")

    def is_done(self) -> bool:
        """Whether it has ended, also for taking too long; what was spooled for it is gone then."""
        if self._process is not None and self._process.poll() is None:
            if time.monotonic() < self._until:
                return False
            self.stop()
            self._give_up(f"timeout: the fresh process was still at it after {self._limit:.0f} seconds")
        for data in self._proof.parent.glob(f"{self._proof.name}.*"):
            data.unlink(missing_ok=True)
        return True

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _give_up(self, problem: str) -> None:
        self._proof.write_text(json.dumps({"unproved": problem}), encoding="utf-8")


def _spooled(spool: Path) -> Iterator[tuple[Path, Mapping[str, object]]]:
    for path in spool.glob("proof-*.json"):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            fresh = json.loads(path.read_bytes()).get("fresh")
            if isinstance(fresh, dict):
                yield path, fresh
