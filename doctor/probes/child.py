"""Run a probe in a process of its own: it may crash, hang or poison itself without harm to the doctor."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MARK = "torchlift-probe-answer:"
"""Begins the line on the child's standard output that holds its answer as JSON; libraries may print around it."""

_GRACE = 2.0


@dataclass(frozen=True)
class ChildResult:
    """How a child ended. `outcome` is "ok", "error", "crashed", "timeout" or "stuck" (killed, but still not gone)."""

    outcome: str
    value: Any = None
    detail: str = ""
    signal: int | None = None
    seconds: float = 0.0


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

    def start(self) -> Child:
        """Start the process with `payload` as JSON on its standard input; never raises."""
        self._started = time.monotonic()
        # Files, not pipes: a child that is stuck in a driver holds a pipe open and would block us for ever.
        self._out, self._err, source = (tempfile.TemporaryFile() for _ in range(3))  # noqa: SIM115
        try:
            source.write(json.dumps(self.payload).encode())
            source.seek(0)
            self._process = subprocess.Popen(
                list(self.command),
                stdin=source,
                stdout=self._out,
                stderr=self._err,
                env=None if self.environment is None else dict(self.environment),
                start_new_session=os.name == "posix",
            )
        except (OSError, ValueError) as error:
            self._failure = f"{self.command[0]} could not be started: {error}"
        finally:
            source.close()
        return self

    def result(self) -> ChildResult:
        """Wait until it ends or its time is over; never raises and never waits much longer than `timeout`."""
        if self._process is None:
            return ChildResult("error", detail=self._failure or "not started")
        try:
            left = self._started + self.timeout - time.monotonic()
            code = self._process.wait(max(left, 0.01))
        except subprocess.TimeoutExpired:
            return self._kill()
        return self._ended(code, time.monotonic() - self._started)

    def _kill(self) -> ChildResult:
        assert self._process is not None
        seconds = time.monotonic() - self._started
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return ChildResult("stuck", detail="It hangs inside the driver and cannot be killed", seconds=seconds)
        detail = f"No answer within {self.timeout:g} s"
        return ChildResult("timeout", detail=detail, seconds=seconds)

    def _ended(self, code: int, seconds: float) -> ChildResult:
        errors = _text(self._err)
        if code < 0:
            with contextlib.suppress(ValueError):
                name = signal.Signals(-code).name
                return ChildResult("crashed", detail=f"Killed by {name}", signal=-code, seconds=seconds)
            return ChildResult("crashed", detail=f"Killed by signal {-code}", signal=-code, seconds=seconds)
        for line in reversed(_text(self._out).splitlines()):
            if line.startswith(MARK):
                try:
                    return ChildResult("ok", json.loads(line[len(MARK) :]), errors, seconds=seconds)
                except ValueError:
                    break
        last = errors.strip().splitlines()[-1:] or [f"exit status {code}, no answer"]
        return ChildResult("error", detail=last[0], seconds=seconds)


def _text(stream: Any) -> str:
    stream.seek(0)
    data: bytes = stream.read()
    stream.close()
    return data.decode(errors="replace")
