"""The process of the examined interpreter that does the smokes, as torchlift's own process sees it."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from torchlift.doctor.smoke.loading import ALIAS
from torchlift.doctor.smoke.zygote import last_lines, signal_name

IMPORT_TIMEOUT = 180.0
"""Seconds that importing torch may take: 10 are common, a cold network disk takes minutes."""

_GRACE = 2.0
_MARGIN = 15.0
"""A process that forks keeps the time itself; so many seconds later it is taken for dead."""

# The first entry of sys.path is the current folder, where a file named torch.py may lie.
_BOOT = """\
import importlib.util, sys
if sys.path and sys.path[0] == "": del sys.path[0]
name, folder, fork = {name!r}, sys.argv[1], sys.argv[2] == "fork"
spec = importlib.util.spec_from_file_location(name, folder + "/__init__.py", submodule_search_locations=[folder])
package = sys.modules[name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
importlib.import_module(name + ".zygote").serve(fork)
"""


class TorchUnavailable(RuntimeError):
    """torch cannot be imported there. `missing`: it is not installed; `detail` is what Python said."""

    def __init__(self, message: str, detail: str, *, missing: bool) -> None:
        super().__init__(message)
        self.detail = detail
        self.missing = missing


class TorchProcess:
    """Starts the process when it is first needed, and another one when it has died.

    Args:
        python: path of the interpreter.
        fork: whether it may fork; None decides by the system (Linux only: elsewhere forking after importing torch is
            not reliable).
        environment: the whole environment of the process.
    """

    def __init__(self, python: str, *, fork: bool | None = None, environment: dict[str, str] | None = None) -> None:
        self.python = python
        self.fork = sys.platform == "linux" if fork is None else fork
        self.torch: str | None = None
        """Its version, once the process has started."""
        self.import_seconds = 0.0
        self._environment = environment
        self._visible: dict[str, str] = {}
        self._ended = False
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def start(self) -> None:
        """Start the process, unless it runs.

        Raises:
            TorchUnavailable: if torch cannot be imported, or after `end`; the message says why.
        """
        if self._process is not None:
            return
        if self._ended:
            raise TorchUnavailable("the run was ended", "the run was ended", missing=False)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `close`)
        boot = _BOOT.format(name=ALIAS)
        command = [self.python, "-c", boot, str(Path(__file__).parents[1]), "fork" if self.fork else "here"]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=self._environment,
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            raise TorchUnavailable(f"{self.python} could not be started: {error}", str(error), missing=False) from error
        self._process = process
        self._lines = queue.SimpleQueue()
        self._reader = threading.Thread(target=_read, args=(process.stdout, self._lines), daemon=True)
        self._reader.start()
        answer = self._next(IMPORT_TIMEOUT)
        if isinstance(answer, str):
            detail = self._said().strip().splitlines()[-1:] or [answer]
            self.close()
            message = f"importing torch killed {self.python}: {answer}"
            if answer == "late":
                message = f"{self.python} did not import torch within {IMPORT_TIMEOUT:g} s"
            raise TorchUnavailable(message, detail[0], missing=False)
        if "problem" in answer:
            self.close()
            what = "torch is not installed for" if answer["missing"] else "torch cannot be imported by"
            raise TorchUnavailable(
                f"{what} {self.python}: {answer['problem']}", answer["problem"], missing=answer["missing"]
            )
        self.torch, self.import_seconds = answer["torch"], answer["seconds"]

    def ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to one request, after at most about `timeout` seconds; see `zygote` and `trial.perform`.

        Raises:
            TorchUnavailable: if the process had to be started and could not.
        """
        visible = request.get("environment") or {}
        if not self.fork and visible != self._visible:
            self.close()  # which devices a process sees is settled when it first looks
        self._visible = visible
        self.start()
        process = self._process
        begun = time.monotonic()
        with contextlib.suppress(OSError, ValueError):  # it has died: `_next` tells how
            assert process is not None and process.stdin is not None
            process.stdin.write(json.dumps({**request, "timeout": timeout}).encode() + b"\n")
            process.stdin.flush()
        answer = self._next(timeout + (_MARGIN if self.fork else 0.0))
        if not isinstance(answer, str):
            if not self.fork and answer.get("raised"):
                self.close()  # a failed kernel poisons the whole process: the next smoke gets a fresh one
            return answer
        output, stuck = "" if self._ended else last_lines(self._said().encode()), not self.close()
        wall = time.monotonic() - begun
        if answer == "late":
            return {"outcome": "stuck" if stuck else "timeout", "output": output, "wall": wall}
        known = "signal" if answer.startswith(("SIG", "signal")) else "exit"
        reason = f"killed by {answer}" if known == "signal" else f"it ended with {answer} and without a result"
        return {"outcome": "crash", known: answer, "reason": reason, "output": output, "wall": wall}

    def close(self) -> bool:
        """End the process and all it started; False if it cannot be killed. Never waits longer than seconds."""
        process, self._process = self._process, None
        if process is None:
            return True
        # The zygote answers SIGTERM by killing the fork that runs, which is in a session of its own.
        for number in ("SIGTERM", "SIGKILL") if os.name == "posix" and self.fork else ("SIGKILL",):
            _end(process, number)
            try:
                process.wait(_GRACE)
                break
            except subprocess.TimeoutExpired:
                continue
        gone = process.poll() is not None
        with contextlib.suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
        self._reader.join(_GRACE)
        if not self._reader.is_alive() and process.stdout is not None:  # else a stuck process holds the pipe open
            process.stdout.close()
        self._errors.close()
        return gone

    def end(self) -> None:
        """Close it for good, also while another thread waits for an answer: that one gets a crash."""
        self._ended = True
        self.close()

    def __enter__(self) -> TorchProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next(self, timeout: float) -> dict[str, Any] | str:
        """The next answer, or "late", or how the process ended."""
        process = self._process
        if process is None:  # ended by another thread
            return "exit status 0"
        deadline = time.monotonic() + timeout
        while True:
            try:
                line = self._lines.get(timeout=max(deadline - time.monotonic(), 0.001))
            except queue.Empty:
                return "late"
            if line is None:
                try:
                    code = process.wait(_GRACE)
                except subprocess.TimeoutExpired:
                    return "late"
                return signal_name(-code) if code < 0 else f"exit status {code}"
            try:
                answer = json.loads(line)
            except ValueError:
                continue  # something printed past Python's standard output, before ours was moved out of its way
            if isinstance(answer, dict):
                return answer

    def _said(self) -> str:
        self._errors.seek(0)
        data: bytes = self._errors.read()
        return data.decode(errors="replace")


def _read(stream: Any, lines: queue.SimpleQueue[bytes | None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in stream:
            lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[bytes], number: str) -> None:
    with contextlib.suppress(OSError):
        if os.name == "posix":
            # Only SIGKILL goes to the group: what else is in it must not end before it has been told to.
            kill = os.killpg if number == "SIGKILL" else os.kill
            kill(process.pid, getattr(signal, number))
        else:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
            process.kill()
