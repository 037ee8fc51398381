"""Scans, sorts and scatters: kernels that torch takes from CUB and its like."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Smoke

_CASES = ("cumsum", "sort", "sort indices", "scatter_add", "sum", "topk")

SMOKE = Smoke(
    id="reduce",
    tier="quick",
    title="Sums, scans, sorts and scatters are exact on integers",
    reference="the same on the CPU, exactly",
    limits=tuple((case, 0.0) for case in _CASES),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    generator = torch.Generator().manual_seed(2)
    # 32-bit integers: exact everywhere, also where there are no 64-bit ones.
    values = torch.randperm(50_000, generator=generator).to(torch.int32)
    places = torch.randint(0, 97, (50_000,), generator=generator)
    small = values % 128
    there = bench.put(values)
    bench.exact("cumsum", bench.put(small).cumsum(0, dtype=torch.int32), small.cumsum(0, dtype=torch.int32))
    got, order = there.sort()
    want, wanted = values.sort()
    bench.exact("sort", got, want)
    bench.exact("sort indices", order, wanted)
    zeros = torch.zeros(97, dtype=torch.int32)
    bench.exact(
        "scatter_add",
        bench.put(zeros).scatter_add(0, bench.put(places), bench.put(small)),
        zeros.scatter_add(0, places, small),
    )
    bench.exact("sum", there.sum(dtype=torch.int64).reshape(1), values.sum(dtype=torch.int64).reshape(1))
    bench.exact("topk", there.topk(17).values, values.topk(17).values)
    return bench.measurement()
