"""A kernel written in Triton, compiled and run."""

from __future__ import annotations

from ..bench import Bench
from ..gates import all_of, capability_from, triton_where_needed
from ..smoke import Measurement, Smoke

_LIMIT = 1e-6

SMOKE = Smoke(
    id="triton",
    tier="default",
    gate=all_of(triton_where_needed, capability_from(7, 0)),
    title="A kernel written in Triton compiles and runs",
    needs="Triton; compute capability 7.0",
    limits=(("2 x + y", _LIMIT),),
    kinds=("cuda", "rocm", "xpu"),
    timeout=120.0,
)

_COUNT, _BLOCK = 100_003, 1024


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    from ..triton_kernel import scaled_sum

    x, y = bench.random(_COUNT, seed=1), bench.random(_COUNT, seed=2)
    out = torch.empty(_COUNT, device=bench.name)
    blocks = (_COUNT + _BLOCK - 1) // _BLOCK
    scaled_sum[(blocks,)](bench.put(x), bench.put(y), out, _COUNT, BLOCK=_BLOCK)
    bench.compare("2 x + y", out, 2 * x.double() + y.double(), _LIMIT)
    return bench.measurement(triton=bench.module("triton").__version__)
