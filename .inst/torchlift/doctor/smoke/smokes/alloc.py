"""Memory on the device can be had, written and read."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Smoke

SMOKE = Smoke(
    id="alloc",
    tier="quick",
    title="Device memory can be had, written and read",
    reference="the count itself, exactly",
    limits=(("sum of ones", 0.0),),
    first_touch=True,
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    if bench.type == "cuda" and bench.index:
        torch.cuda.set_device(bench.index)
    count = 1 << 20
    ones = torch.zeros(count, device=bench.name).fill_(1.0)
    bench.exact("sum of ones", ones.sum().reshape(1), torch.full((1,), float(count)))
    return bench.measurement()
