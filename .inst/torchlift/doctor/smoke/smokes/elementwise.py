"""The first kernel of torch itself: the true test of the architecture."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Smoke

_LIMIT = 1e-6

SMOKE = Smoke(
    id="elementwise",
    tier="quick",
    title="torch has kernels for this device",
    limits=(("(x * 2 + 1).sin()", _LIMIT),),
)


def run(bench: Bench) -> Measurement:
    x = bench.random(1 << 18)
    got = (bench.put(x) * 2 + 1).sin()
    # sin amplifies the rounding of its argument, so the reference starts from the rounded one.
    argument = x * 2 + 1
    bench.compare("(x * 2 + 1).sin()", got, argument.double().sin(), _LIMIT)
    return bench.measurement()
