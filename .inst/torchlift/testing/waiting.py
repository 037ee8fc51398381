"""Waiting for processes that belong together: until all have ended, the time is up, or one has failed the others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal, Protocol

_LONGEST_PAUSE = 0.02

Status = int | Literal["late", "stopped"]
"""Exit status; `late` if the time was up, `stopped` if another one had ended and this one did not follow."""


class Member(Protocol):
    """One of the processes."""

    def poll(self) -> int | None:
        """Exit status, negative for a signal; None while it runs."""
        ...

    def end(self, *, running: bool) -> None:
        """Kills what is left of it. `running`: it was given up, and may say first where it is."""
        ...


def wait_for_all(members: Sequence[Member], timeout: float, grace: float) -> list[Status]:
    """How each process ended; none is left.

    Args:
        members: the processes.
        timeout: seconds that all of them have.
        grace: seconds that the others have once one has ended.
    """
    start = time.monotonic()
    found: dict[int, Status] = {}
    first: float | None = None
    pause = 0.0005
    try:
        while len(found) < len(members):
            for number, member in enumerate(members):
                if number not in found and (status := member.poll()) is not None:
                    found[number] = status
                    first = time.monotonic() if first is None else first
            now = time.monotonic()
            late = now > start + timeout
            if late or (first is not None and now > first + grace):
                return [found.get(number, "late" if late else "stopped") for number in range(len(members))]
            if len(found) < len(members):
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        return [found[number] for number in range(len(members))]
    finally:
        for number, member in enumerate(members):
            member.end(running=number not in found)
