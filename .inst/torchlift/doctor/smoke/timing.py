"""Time something on a device."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench


class Timed(NamedTuple):
    """How long one `work()` takes, and when the device was busy with it, as `time.monotonic()` has it."""

    seconds: float
    busy: tuple[float, float]


_LOAD = 1.5
"""Seconds for which a GPU is loaded: its clocks settle, and some ten looks at them fall into that time."""


def median_seconds(bench: Bench, work: Callable[[], Any], *, repeat: int, rounds: int = 5) -> Timed:
    """The median of some rounds of `repeat` calls each, after one round to warm up; on a GPU as many as fill its time."""
    least = 0.0 if bench.kind == "cpu" else _LOAD
    _round(bench, work, repeat)
    rates: list[float] = []
    begin = time.monotonic()
    started = time.perf_counter()
    while len(rates) < rounds or time.perf_counter() - started < least:
        rates.append(_round(bench, work, repeat))
    return Timed(statistics.median(rates), (begin, time.monotonic()))


def _round(bench: Bench, work: Callable[[], Any], repeat: int) -> float:
    bench.synchronize()
    started = time.perf_counter()
    for _ in range(repeat):
        work()
    bench.synchronize()
    return (time.perf_counter() - started) / repeat
