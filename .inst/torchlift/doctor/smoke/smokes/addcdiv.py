"""x + value * (a / b), which optimizers live on: one kernel, many tensors at once, in place."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Smoke

_LIMIT = 3e-7
_WAYS = ("addcdiv", "addcdiv_", "_foreach_addcdiv")

SMOKE = Smoke(
    id="addcdiv",
    tier="default",
    title="addcdiv is right to the last bits by itself, in place and on many tensors at once",
    # A product and a sum in one rounding or in two: both are within it, one rounding more is not far.
    limits=tuple((way, _LIMIT) for way in _WAYS),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    x, a = bench.random(10_007, seed=1), bench.random(10_007, seed=2)
    b = bench.random(10_007, seed=3).abs() + 0.5
    want = torch.addcdiv(x.double(), a.double(), b.double(), value=-0.3)
    there = [bench.put(tensor) for tensor in (x, a, b)]
    results = (
        torch.addcdiv(*there, value=-0.3),
        there[0].clone().addcdiv_(*there[1:], value=-0.3),
        torch._foreach_addcdiv(*([tensor] for tensor in there), value=-0.3)[0],
    )
    for way, got in zip(_WAYS, results):
        bench.compare(way, got, want, _LIMIT)
    return bench.measurement()
