"""Load a device for a while and note how fast it stays."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench

WINDOW = 0.25
"""Seconds between two looks at the clock: long beside what a look costs, short beside what throttling takes."""

_MOST_KEPT = 60


@dataclass
class Course:
    """How fast something was, from its beginning to its end.

    Attributes:
        begun: when, on the clock that all processes of a machine share (`time.monotonic`).
        ended: likewise.
        rates: work a second, window by window, the first left out.
    """

    begun: float
    ended: float
    rates: list[float] = field(default_factory=list)

    @property
    def kept_up(self) -> float:
        """The rate that the device keeps: the median of the second half."""
        return statistics.median(self.rates[len(self.rates) // 2 :])

    def told(self) -> dict[str, Any]:
        """As a part of a measurement's details: the sustained rate, the best, and the course in at most 60 points."""
        step = -(-len(self.rates) // _MOST_KEPT)
        course = [statistics.median(self.rates[at : at + step]) for at in range(0, len(self.rates), step)]
        return {
            "rate": self.kept_up,
            "best": max(self.rates),
            "course": course,
            "begun": self.begun,
            "ended": self.ended,
        }


def sustained(
    bench: Bench,
    work: Callable[[], Any],
    *,
    amount: float,
    seconds: float,
    check: Callable[[], None] | None = None,
    window: float = WINDOW,
) -> Course:
    """Call `work`, each time `amount` of something, for so many seconds, at least three windows.

    Between windows the device is waited for, and `check` is called, whose time does not count.
    """
    work()
    bench.synchronize()
    started = time.perf_counter()
    work()
    bench.synchronize()
    once = max(time.perf_counter() - started, 1e-6)
    batch = max(1, round(window / once))
    begun, course = time.monotonic(), Course(0.0, 0.0)
    deadline = begun + seconds
    windows = 0
    while windows < 4 or time.monotonic() < deadline:
        started = time.perf_counter()
        for _ in range(batch):
            work()
        bench.synchronize()
        took = time.perf_counter() - started
        # The first finds the clocks of a card at rest.
        if windows:
            course.rates.append(batch * amount / took)
        windows += 1
        batch = max(1, round(batch * window / took))
        if check is not None:
            check()
    course.begun, course.ended = begun, time.monotonic()
    return course
