"""Run a probe in a process of its own: it may crash, hang or poison itself without harm to the doctor."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import IO, Any

from torchlift.lazy_dataclass import dataclass

MARK = "torchlift-probe-answer:"
"""Begins the line on the child's standard output that holds its answer as JSON; libraries may print around it.

A child that may not live to the end prints its answer so far, again and again: the last whole line counts.
"""

AT = "torchlift-probe-at:"
"""Begins a line that names what the child does next: the last one tells where it hung or crashed."""

_GRACE = 2.0

_WINDOWS_EXCEPTION = 0xC0000000
"""From here on the exit status of a Windows process is the exception that ended it (0xC0000005: access violation)."""


@dataclass(frozen=True)
class ChildResult:
    """How a child ended. `outcome` is "ok", "error", "crashed", "timeout" or "stuck" (killed, but still not gone)."""

    outcome: str
    value: Any = None
    """Its answer. Of a child that crashed or did not end: the last it gave before, if any."""
    detail: str = ""
    signal: int | None = None
    seconds: float = 0.0

    @property
    def answer(self) -> tuple[dict[str, Any] | None, str, str]:
        """Its answer, how it ended and the detail; one that ended well with an answer that is not complete has failed."""
        value = self.value if isinstance(self.value, dict) else None
        if self.outcome == "ok" and not (value and value.get("complete")):
            said = self.detail.strip().splitlines() or ["It ended before it had asked everything"]
            return value, "error", said[-1]
        return value, self.outcome, self.detail


@dataclass
class Child:
    """A started probe. Start several, then ask each for its `result()`."""

    command: Sequence[str]
    payload: object = None
    timeout: float = 10.0
    """Seconds from the start until it is killed, with everything it started."""
    environment: Mapping[str, str] | None = None
    """The whole environment; None inherits."""
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _started: float = field(default=0.0, init=False)
    _failure: str | None = field(default=None, init=False)
    _result: ChildResult | None = field(default=None, init=False)

    def start(self) -> Child:
        """Start the process with `payload` as JSON on its standard input; never raises."""
        self._started = time.monotonic()
        with contextlib.ExitStack() as opened:
            try:
                # Files, not pipes: a child that is stuck in a driver holds a pipe open and would block us for ever.
                source, out, err = (opened.enter_context(_new_file()) for _ in range(3))
                source.write(json.dumps(self.payload).encode())
                source.seek(0)
                self._process = subprocess.Popen(
                    list(self.command),
                    stdin=source,
                    stdout=out,
                    stderr=err,
                    env=None if self.environment is None else dict(self.environment),
                    start_new_session=os.name == "posix",
                )
            except (OSError, ValueError, TypeError) as error:
                self._failure = f"{self.command[0]} could not be started: {error}"
                return self
            self._out, self._err = out, err
            opened.pop_all()
            source.close()
        return self

    def result(self) -> ChildResult:
        """Wait until it ends or its time is over; never raises and never waits much longer than `timeout`."""
        if self._result is None:
            self._result = self._wait()
        return self._result

    def _wait(self) -> ChildResult:
        if self._process is None:
            return ChildResult("error", detail=self._failure or "not started")
        with self._out, self._err:
            try:
                left = self._started + self.timeout - time.monotonic()
                code = self._process.wait(max(left, 0.01))
            except subprocess.TimeoutExpired:
                return self._kill()
            return self._ended(code, time.monotonic() - self._started)

    def stop(self) -> None:
        """End it, with everything it started, without waiting for it; never raises."""
        if self._process is None or self._process.returncode is not None:
            return
        with contextlib.suppress(OSError):
            if sys.platform != "win32":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _kill(self) -> ChildResult:
        assert self._process is not None
        seconds = time.monotonic() - self._started
        self.stop()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            _, value, at = self._answer()
            detail = f"It hangs inside the driver{at} and cannot be killed"
            return ChildResult("stuck", value, detail, seconds=seconds)
        _, value, at = self._answer()
        return ChildResult("timeout", value, f"No answer within {self.timeout:g} s{at}", seconds=seconds)

    def _ended(self, code: int, seconds: float) -> ChildResult:
        errors = _text(self._err)
        answered, value, at = self._answer()
        if code < 0 or code >= _WINDOWS_EXCEPTION:
            name = f"exception 0x{code:08X}" if code > 0 else _signal_name(-code)
            number = -code if code < 0 else None
            return ChildResult("crashed", value, f"Killed by {name}{at}", number, seconds)
        if answered:
            return ChildResult("ok", value, errors, seconds=seconds)
        last = errors.strip().splitlines()[-1:] or [f"exit status {code}, no answer"]
        return ChildResult("error", detail=last[0], seconds=seconds)

    def _answer(self) -> tuple[bool, Any, str]:
        """Whether there is an answer, the last one, and where the child was after it: " in ...", "" when not said."""
        at = ""
        for line in reversed(_text(self._out).splitlines()):
            if line.startswith(AT) and not at:
                at = f" in {line[len(AT) :]}"
            if line.startswith(MARK):
                # A child killed while it wrote leaves half a line: then the answer before counts.
                with contextlib.suppress(ValueError):
                    return True, json.loads(line[len(MARK) :]), at
        return False, None, at


def _new_file() -> IO[bytes]:
    if sys.platform == "linux":
        # A file without a folder: in a read-only container there may be nowhere to write.
        with contextlib.suppress(OSError):
            return os.fdopen(os.memfd_create("torchlift-probe"), "w+b")
    return tempfile.TemporaryFile()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace")
