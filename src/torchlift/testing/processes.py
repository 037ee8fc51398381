"""Runs functions in fresh processes that have torch; crashes and endless loops there are answers here."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal

from torchlift.testing.job import Defect, Done, Job
from torchlift.testing.zygote import command

_TAIL = 2000


class TorchUnavailable(RuntimeError):
    """torch is not installed, or importing it fails; the message says which and what to do."""


@dataclass(frozen=True)
class Ending:
    """How a job ended.

    Attributes:
        how: `done`, `crashed` (killed by a signal or left without an answer), `timed out`.
        records: what the job emitted until then.
        reason: name of the signal, or the exit status, of a crash.
        output: the last that it printed.
    """

    how: Literal["done", "crashed", "timed out"]
    records: tuple[Any, ...]
    reason: str = ""
    output: str = ""


class FreshProcesses:
    """Runs each job in a process of its own.

    On Linux one helper process imports torch and forks for every job. Elsewhere, where forking after importing torch is
    not reliable, every job starts a new Python. The helper starts with the first job and ends with `close`.
    """

    def __init__(self, *, fork: bool | None = None) -> None:
        self._fork = sys.platform == "linux" if fork is None else fork
        self._zygote: subprocess.Popen[str] | None = None
        self._owner = 0
        self._lock = threading.Lock()

    def run(self, target: str, task: Any, *, folder: str | None = None, timeout: float = 600.0) -> Ending:
        """Runs `target`, a `module:function`, as `function(task, emit)`.

        Args:
            target: the function.
            task: plain data for it.
            folder: working directory; None for the current one.
            timeout: seconds until the process is killed.

        Raises:
            TorchUnavailable: if there is no torch that can be imported.
            RuntimeError: if the function itself failed; that is a defect of torchlift.
        """
        with tempfile.TemporaryDirectory(prefix="torchlift-") as name, self._lock:
            answer, output, request = Path(name, "answer"), Path(name, "output"), Path(name, "job")
            for path in (answer, output):
                path.touch()
            environment = {key: value for key, value in os.environ.items() if key != "PYTORCH_JIT"}
            here = folder or str(Path.cwd())
            request.write_bytes(
                pickle.dumps(Job(target, task, str(answer), str(output), here, tuple(_path()), environment))
            )
            status = self._forked(request, timeout) if self._fork else _started(request, timeout)
            records = _records(answer)
            tail = output.read_bytes()[-_TAIL:].decode(errors="replace")
        if records and isinstance(records[-1], Defect):
            raise RuntimeError(f"torchlift.testing failed with a defect of its own:\n{records[-1].trace}")
        if records and isinstance(records[-1], Done):
            return Ending("done", tuple(records[:-1]), output=tail)
        if status is None:
            return Ending("timed out", tuple(records), output=tail)
        return Ending("crashed", tuple(records), _crash(status), tail)

    def close(self) -> None:
        """Ends the helper process. The next job starts another one."""
        zygote, self._zygote = self._zygote, None
        if zygote is None or self._owner != os.getpid():
            return
        assert zygote.stdin is not None and zygote.stdout is not None
        with contextlib.suppress(OSError):
            zygote.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            zygote.wait(timeout=1)
        zygote.terminate()
        zygote.wait()
        zygote.stdout.close()

    def __enter__(self) -> FreshProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forked(self, request: Path, timeout: float) -> int | None:
        try:
            zygote = self._started_zygote()
            assert zygote.stdin is not None and zygote.stdout is not None
            zygote.stdin.write(json.dumps({"job": str(request), "timeout": timeout}) + "\n")
            zygote.stdin.flush()
            line = zygote.stdout.readline()
        except BaseException:  # also KeyboardInterrupt: an answer that comes later must not be taken for the next one's
            if self._zygote is not None:
                self._zygote.terminate()
            self.close()
            raise
        if not line:
            self.close()
            raise RuntimeError("The process that starts others under torch has ended; run it again.")
        status = json.loads(line)["status"]
        return None if status is None else int(status)

    def _started_zygote(self) -> subprocess.Popen[str]:
        if self._zygote is None or self._owner != os.getpid():  # a fork of this process needs one of its own
            self._owner = os.getpid()
            with tempfile.TemporaryFile() as errors:
                self._zygote = subprocess.Popen(
                    command("serve", _path()),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    start_new_session=True,
                )
                assert self._zygote.stdout is not None
                _check_torch(self._zygote.stdout.readline(), errors)
        return self._zygote


@cache
def fresh_processes() -> FreshProcesses:
    """The processes that everything in this package shares; they end with this process."""
    processes = FreshProcesses()
    atexit.register(processes.close)
    return processes


def _started(request: Path, timeout: float) -> int | None:
    """Runs one job in a new Python; None if the time was up."""
    with tempfile.TemporaryFile() as errors:
        started = command("once", _path(), str(request))
        process = subprocess.Popen(started, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            text, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.kill()
            process.communicate()
        _check_torch(text.partition("\n")[0], errors)
    return process.returncode


def _check_torch(line: str, errors: IO[bytes]) -> None:
    answer = json.loads(line) if line else {"error": "broken", "detail": _last_line(errors)}
    if answer.get("error") == "missing":
        raise TorchUnavailable(
            f"Comparing captures runs them, and torch is not installed for {sys.executable}. "
            "Install it there, for example with: pip install 'torchlift[torch]'."
        )
    if "error" in answer:
        raise TorchUnavailable(f"torch cannot be imported by {sys.executable}: {answer['detail']}")


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "the process died without a word."


def _path() -> list[str]:
    return [entry or str(Path.cwd()) for entry in sys.path]


def _records(path: Path) -> list[Any]:
    records = []
    with path.open("rb") as stream:
        while True:
            try:
                records.append(pickle.load(stream))
            except (EOFError, pickle.UnpicklingError):
                return records


def _crash(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
