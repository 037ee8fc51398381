"""Time something on a device."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench


def median_seconds(bench: Bench, work: Callable[[], Any], *, repeat: int, rounds: int = 5) -> float:
    """Seconds of one `work()`: the median of some rounds of `repeat` calls each, after one round to warm up."""
    rates = []
    for _ in range(rounds + 1):
        bench.synchronize()
        started = time.perf_counter()
        for _ in range(repeat):
            work()
        bench.synchronize()
        rates.append((time.perf_counter() - started) / repeat)
    return statistics.median(rates[1:])
