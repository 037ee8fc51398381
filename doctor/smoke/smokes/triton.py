"""A kernel written in Triton, compiled and run."""

from __future__ import annotations

import importlib.util

from ..bench import Bench
from ..gates import all_of, capability_from
from ..smoke import Measurement, Smoke

_LIMIT = 1e-6

SMOKE = Smoke(
    id="triton",
    tier="default",
    title="A kernel written in Triton compiles and runs",
    needs="Triton; compute capability 7.0",
    limits=(("2 x + y", _LIMIT),),
    kinds=("cuda", "rocm", "xpu"),
    timeout=120.0,
)

_COUNT, _BLOCK = 100_003, 1024


def _installed(bench: Bench) -> str | None:
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed (the wheels of torch for this system come without it)"
    return None


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    from ..triton_kernel import scaled_sum

    x, y = bench.random(_COUNT, seed=1), bench.random(_COUNT, seed=2)
    out = torch.empty(_COUNT, device=bench.name)
    blocks = (_COUNT + _BLOCK - 1) // _BLOCK
    scaled_sum[(blocks,)](bench.put(x), bench.put(y), out, _COUNT, BLOCK=_BLOCK)
    bench.compare("2 x + y", out, 2 * x.double() + y.double(), _LIMIT)
    return bench.measurement(triton=bench.module("triton").__version__)


gate = all_of(_installed, capability_from(7, 0))
