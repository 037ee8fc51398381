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
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.testing.job import Defect, Done, Job
from torchlift.testing.waiting import Status, wait_for_all
from torchlift.testing.zygote import command

_TAIL = 2000


class TorchUnavailable(RuntimeError):
    """torch is not installed, or importing it fails; the message says which and what to do."""


@dataclass(frozen=True)
class Ending:
    """How a job ended.

    Attributes:
        how: `done`, `crashed` (killed by a signal or left without an answer), `timed out`, `stopped` (see
            `FreshProcesses.run_together`).
        records: what the job emitted until then.
        reason: name of the signal, or the exit status, of a crash.
        output: the last that it printed.
    """

    how: Literal["done", "crashed", "timed out", "stopped"]
    records: tuple[Any, ...]
    reason: str = ""
    output: str = ""


@dataclass(frozen=True)
class Piece:
    """One of several functions that run together: a `module:function` and plain data for it."""

    target: str
    task: Any


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
        return self.run_together([Piece(target, task)], folder=folder, timeout=timeout)[0]

    def run_together(
        self, pieces: Sequence[Piece], *, folder: str | None = None, timeout: float = 600.0, grace: float = 0.0
    ) -> tuple[Ending, ...]:
        """Runs several functions at the same time, each as `run` does, and waits for all.

        Args:
            pieces: the functions.
            folder: working directory of all; None for the current one.
            timeout: seconds until all that still run are killed.
            grace: seconds that the others have once one has ended; then they are killed and count as `stopped`.

        Raises:
            TorchUnavailable: if there is no torch that can be imported.
            RuntimeError: if one of the functions itself failed; that is a defect of torchlift.
        """
        with tempfile.TemporaryDirectory(prefix="torchlift-") as name, self._lock:
            environment = {key: value for key, value in os.environ.items() if key != "PYTORCH_JIT"}
            here = folder or str(Path.cwd())
            jobs = []
            for number, piece in enumerate(pieces):
                answer, output, request = (Path(name, f"{kind}{number}") for kind in ("answer", "output", "job"))
                answer.touch()
                output.touch()
                job = Job(piece.target, piece.task, str(answer), str(output), here, tuple(_path()), environment)
                request.write_bytes(pickle.dumps(job))
                jobs.append((request, answer, output))
            requests = [request for request, _, _ in jobs]
            statuses = self._forked(requests, timeout, grace) if self._fork else _started(requests, timeout, grace)
            return tuple(
                _ending(_records(answer), status, output.read_bytes()[-_TAIL:].decode(errors="replace"))
                for status, (_, answer, output) in zip(statuses, jobs, strict=True)
            )

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

    def _forked(self, requests: Sequence[Path], timeout: float, grace: float) -> list[Status]:
        try:
            zygote = self._started_zygote()
            assert zygote.stdin is not None and zygote.stdout is not None
            asked = {"jobs": [str(request) for request in requests], "timeout": timeout, "grace": grace}
            zygote.stdin.write(json.dumps(asked) + "\n")
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
        statuses: list[Status] = json.loads(line)["statuses"]
        return statuses

    def _started_zygote(self) -> subprocess.Popen[str]:
        if self._zygote is not None and self._owner == os.getpid() and self._zygote.poll() is not None:
            self.close()  # somebody ended it between two jobs
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


class _Started:
    """A new Python that does one job."""

    def __init__(self, request: Path, output: IO[bytes], errors: IO[bytes]) -> None:
        self._process = subprocess.Popen(command("once", _path(), str(request)), stdout=output, stderr=errors)

    def poll(self) -> int | None:
        return self._process.poll()

    def end(self, *, running: bool) -> None:
        self._process.kill()
        self._process.wait()


def _started(requests: Sequence[Path], timeout: float, grace: float) -> list[Status]:
    """Runs each job in a new Python."""
    with contextlib.ExitStack() as files:
        streams = [[files.enter_context(tempfile.TemporaryFile()) for _ in range(2)] for _ in requests]
        members: list[_Started] = []
        try:
            members += [_Started(request, *both) for request, both in zip(requests, streams, strict=True)]
            statuses = wait_for_all(members, timeout, grace)
        finally:
            for member in members:
                member.end(running=False)
        for status, (output, errors) in zip(statuses, streams, strict=True):
            if isinstance(status, int):
                output.seek(0)
                _check_torch(output.readline().decode(), errors)
    return statuses


def _ending(records: list[Any], status: Status, output: str) -> Ending:
    if records and isinstance(records[-1], Defect):
        raise RuntimeError(f"torchlift.testing failed with a defect of its own:\n{records[-1].trace}")
    if records and isinstance(records[-1], Done):
        return Ending("done", tuple(records[:-1]), output=output)
    if isinstance(status, str):
        return Ending("timed out" if status == "late" else "stopped", tuple(records), output=output)
    return Ending("crashed", tuple(records), _crash(status), output)


def _check_torch(line: str, errors: IO[bytes]) -> None:
    answer = json.loads(line) if line else {"error": "broken", "detail": _last_line(errors)}
    if answer.get("error") == "missing":
        raise TorchUnavailable(
            f"torch is needed to run models, and is not installed for {sys.executable}. "
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
