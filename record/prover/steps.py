"""Runs what may crash, hang or eat the machine in a process of its own, and leaves nothing of it behind."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pickle
import select
import signal
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Optional

_HEADER = struct.Struct("<Q")
_DIE_WITH_PARENT = 1
_LOOK_SECONDS = 0.05
_PROCESSES = 256
_ROUNDS = 200


@dataclass
class Attempt:
    """What came of a step.

    Attributes:
        results: what it emitted before it ended.
        problem: why it did not come to an end; None if it did.
        seconds: of CPU time.
    """

    results: list[Any] = field(default_factory=list)
    problem: Optional[str] = None
    seconds: float = 0.0


Emit = Callable[[Any], None]


def attempt(work: Callable[[Emit], None], seconds: float, clock: float, memory: Optional[int]) -> Attempt:
    """Runs `work` in a fork, which is gone afterwards with all that it started.

    Args:
        work: gets a function that hands over a result, which must be plain data.
        seconds: of CPU time.
        clock: seconds on the clock.
        memory: bytes that it may allocate; None for no bound: drivers of accelerators map far more than they use.
    """
    gc.freeze()
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        _work(work, writing, seconds, memory)
    os.close(writing)
    made = Attempt()
    try:
        made.problem = _received(made.results, reading, process, time.monotonic() + clock)
    finally:
        os.close(reading)
        made.seconds = _ended(process, made)
    return made


def attempt_here(work: Callable[[Emit], None]) -> Attempt:
    """Runs `work` in this process, which somebody else bounds."""
    made = Attempt()
    begin = time.process_time()
    try:
        work(made.results.append)
    except MemoryError:
        made.problem = "out of memory"
    except BaseException as error:
        made.problem = f"{type(error).__name__}: {first_line(error)}"
    made.seconds = time.process_time() - begin
    return made


def end_descendants() -> None:
    """Ends all processes below this one; they become its children when their parents go."""
    for _ in range(_ROUNDS):
        below = _descendants()
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in below:
                with contextlib.suppress(OSError):
                    os.kill(process, number)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not below:
            return
        time.sleep(0.01)


def _work(work: Callable[[Emit], None], writing: int, seconds: float, memory: Optional[int]) -> None:
    """Never returns."""

    def emit(result: Any) -> None:
        data = pickle.dumps(result)
        view = memoryview(_HEADER.pack(len(data)) + data)
        while view:
            view = view[os.write(writing, view) :]

    try:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _bounded(seconds, memory)
        import torch

        torch.set_num_threads(1)
        work(emit)
        emit(("done",))
    except MemoryError:
        emit(("problem", "out of memory"))
    except BaseException as error:
        emit(("problem", f"{type(error).__name__}: {first_line(error)}"))
    finally:
        os._exit(0)


def first_line(error: BaseException) -> str:
    """The first line of its message that says something, not too long."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else ""


def _bounded(seconds: float, memory: Optional[int]) -> None:
    import resource

    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    bounds = {resource.RLIMIT_CPU: int(seconds) + 1, resource.RLIMIT_NPROC: _processes() + _PROCESSES}
    if memory is not None:
        bounds[resource.RLIMIT_AS] = used + memory
    for kind, bound in bounds.items():
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (bound if hard == resource.RLIM_INFINITY else min(bound, hard), hard))


def _processes() -> int:
    """Threads of all processes of this user; one may end while it is looked at."""
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{name}/task").st_uid == os.getuid():
                found += len(os.listdir(f"/proc/{name}/task"))
    return found


def _received(results: list[Any], reading: int, process: int, end: float) -> Optional[str]:
    """Fills in the results; gives the problem, if the step did not come to an end."""
    waiting = b""
    gone = False
    while True:
        left = end - time.monotonic()
        if left <= 0:
            return "timeout"
        ready, _, _ = select.select([reading], [], [], min(left, _LOOK_SECONDS))
        if ready:
            data = os.read(reading, 1 << 20)
            waiting += data
            while len(waiting) >= _HEADER.size:
                (size,) = _HEADER.unpack_from(waiting)
                if len(waiting) < _HEADER.size + size:
                    break
                result = pickle.loads(waiting[_HEADER.size : _HEADER.size + size])
                waiting = waiting[_HEADER.size + size :]
                if result[0] == "done":
                    return None
                if result[0] == "problem":
                    return str(result[1])
                results.append(result)
            if data:
                continue
            return "crash"
        if gone:
            return "crash"
        gone = os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _ended(process: int, made: Attempt) -> float:
    """Ends the step; gives its CPU time, and words the signal that ended it."""
    if made.problem != "crash":
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    _, status, used = os.wait4(process, 0)
    if made.problem == "crash":
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        made.problem = f"crash: {signal.Signals(number).name}" if number else "crash: the process left"
        if number == signal.SIGXCPU:
            made.problem = "timeout"
    end_descendants()
    return used.ru_utime + used.ru_stime


def _descendants() -> list[int]:
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] != b"Z":
                parents[int(name)] = int(fields[1])
    below = {os.getpid()}
    grown = True
    while grown:
        more = {process for process, parent in parents.items() if parent in below and process not in below}
        grown = bool(more)
        below |= more
    below.discard(os.getpid())
    return sorted(below)
