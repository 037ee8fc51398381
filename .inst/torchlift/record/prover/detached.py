"""Forks a process that the program does not notice: not a child of it, in no group of it, holding none of its files.

The program may wait for all its children, count them, handle SIGCHLD, or wait for the end of a pipe that its children hold.
So the fork is a grandchild that is adopted by init, and points every open file at /dev/null; the numbers stay taken, so that
an object of the program that is finalised in it closes nothing else.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Optional

_BECOME_REAPER = 36
_SILENT = [("ignore", None, Warning, None, 0)]


def fork_detached(run: Callable[[], None], keep: tuple[int, ...], close: Callable[[], None]) -> bool:
    """Runs a function in a detached fork, which ends with it.

    Args:
        run: what the fork does; what it raises ends the fork.
        keep: open files that it keeps.
        close: called first in the fork.

    Returns:
        Whether there is such a process.
    """
    with _no_child_signal(), _no_fork_warning():
        middle = os.fork()
        if middle == 0:
            _in_the_middle(run, keep, close)
        while True:
            try:
                _, status = os.waitpid(middle, 0)
            except InterruptedError:
                continue
            except ChildProcessError:  # SIGCHLD is ignored, or the program waits for any child
                return True
            return status == 0


def _in_the_middle(run: Callable[[], None], keep: tuple[int, ...], close: Callable[[], None]) -> None:
    """Never returns."""
    status = 1
    try:
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        if os.fork() == 0:
            _in_the_fork(run, keep, close)
        status = 0
    finally:
        os._exit(status)


def _in_the_fork(run: Callable[[], None], keep: tuple[int, ...], close: Callable[[], None]) -> None:
    try:
        close()
        os.setsid()
        become_reaper()
        _let_go(keep)
        _forget_the_program()
        run()
    finally:
        os._exit(0)


def become_reaper() -> None:
    """Orphans of processes that this one starts become its children: it can find all of them, and end them."""
    ctypes.CDLL(None).prctl(_BECOME_REAPER, 1, 0, 0, 0)


def _let_go(keep: tuple[int, ...]) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        if number != nothing and number not in keep:
            with contextlib.suppress(OSError):
                os.fstat(number)
                os.dup2(nothing, number)


def _forget_the_program() -> None:
    """Its signal handlers, its tracing, its collector: nothing of it may run here but what is proved."""
    import gc
    import resource

    gc.disable()
    sys.settrace(None)
    sys.setprofile(None)
    threading.settrace(None)
    threading.setprofile(None)
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    warnings.filters[:] = _SILENT  # type: ignore[index]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")


@contextlib.contextmanager
def _no_child_signal() -> Iterator[None]:
    """A handler of SIGCHLD is not called for the process in the middle, unless a child of the program ends as well."""
    if not callable(signal.getsignal(signal.SIGCHLD)):
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    pending = signal.SIGCHLD in signal.sigpending()
    try:
        yield
    finally:
        if not pending:
            signal.sigtimedwait([signal.SIGCHLD], 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextlib.contextmanager
def _no_fork_warning() -> Iterator[None]:
    """Python 3.12 warns in the parent where there are threads.

    The list of filters is replaced and not changed: a change makes Python forget which warnings were shown once.
    """
    filters: Any = warnings.filters
    warnings.filters = list(_SILENT)
    try:
        yield
    finally:
        warnings.filters = filters


def start_of(process: int) -> Optional[int]:
    """When a process started, in ticks; None if it is gone or has ended."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])
