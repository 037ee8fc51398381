"""Work on many files, shared out among forked processes that know all that this one knew when they began.

This process takes files from the front and its children take them from the back, one at a time, until they meet: nobody waits, however
long single files take, and nothing is read twice to be shared out. Files at the front ask for what is dear and the same for all of them.
A child that began before the first of these was done leaves them alone and ends; its successor has the answers.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

Result = TypeVar("Result")
_FEW = 2
"""Files for which no process is begun."""


def can_fork() -> bool:
    """Whether a process may begin as a copy of this one: not with threads, and not where system libraries cannot bear it."""
    forks = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    return forks and threading.active_count() == 1


class _Ends:
    """The files that nobody has taken yet, seen by all processes."""

    def __init__(self, count: int) -> None:
        self._ends: Any = multiprocessing.get_context("fork").Array("l", [0, count])

    def left(self, limit: int) -> int:
        """How many there are behind the first `limit`."""
        return int(self._ends[1]) - max(int(self._ends[0]), limit)

    def front(self) -> int | None:
        """Take the first one."""
        with self._ends.get_lock():
            if self.left(0) <= 0:
                return None
            self._ends[0] += 1
            return int(self._ends[0]) - 1

    def back(self, limit: int) -> int | None:
        """Take the last one, unless it is among the first `limit`."""
        with self._ends.get_lock():
            if self.left(limit) <= 0:
                return None
            self._ends[1] -= 1
            return int(self._ends[1])


class Sharing(Generic[Result]):
    """One piece of work on many files.

    Args:
        work: what is done with one file; its results are sent between processes.
        paths: the files, those first that ask for what is dear.
        dear: how many these are.
        helpers: how many children there are at a time.
    """

    def __init__(self, work: Callable[[str], Result], paths: Sequence[str], dear: int, helpers: int) -> None:
        self._work = work
        self._paths = paths
        self._dear = dear
        self._helpers = helpers
        self._ends = _Ends(len(paths))
        self._process = os.getpid()
        self._children: list[tuple[ForkProcess, Connection]] = []

    def results(self) -> Iterator[tuple[str, Result]]:
        """What is done with each file, in no order."""
        done = [False] * len(self._paths)
        try:
            for number, result in self._shared():
                done[number] = True
                yield self._paths[number], result
        finally:
            for child, _ in self._children:
                child.kill()
        # A child that was killed leaves no word of what it had taken.
        for path, is_done in zip(self._paths, done, strict=True):
            if not is_done:
                yield path, self._work(path)

    def _shared(self) -> Iterator[tuple[int, Result]]:
        self._begin(self._dear)
        while (number := self._ends.front()) is not None:
            yield number, self._work(self._paths[number])
            for child, connection in [*self._children]:
                if connection.poll():
                    yield from self._received(child, connection)
            self._begin(0)
        for child, connection in [*self._children]:
            yield from self._received(child, connection)

    def _begin(self, limit: int) -> None:
        context = multiprocessing.get_context("fork")
        while len(self._children) < self._helpers and self._ends.left(limit) >= _FEW:
            receiver, sender = context.Pipe(duplex=False)
            child = context.Process(target=self._help, args=(limit, sender), daemon=True)
            child.start()
            sender.close()
            self._children.append((child, receiver))

    def _help(self, limit: int, sender: Connection) -> None:
        """What a child does, as long as there is somebody to do it for."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)  # the other one says that it was interrupted
        found = []
        while os.getppid() == self._process and (place := self._ends.back(limit)) is not None:
            found.append((place, self._work(self._paths[place])))
        with suppress(OSError):  # nobody reads it any more
            sender.send(found)

    def _received(self, child: ForkProcess, connection: Connection) -> list[tuple[int, Result]]:
        """What a child found; nothing if it ended before its time."""
        self._children.remove((child, connection))
        try:
            found: list[tuple[int, Result]] = connection.recv()
        except (EOFError, OSError):
            found = []
        connection.close()
        child.join()
        return found
