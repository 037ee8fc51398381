"""Matrix products in fp16 and bf16."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Smoke

_FP16, _BF16 = 3e-3, 2e-2

SMOKE = Smoke(
    id="matmul-half",
    tier="quick",
    title="Matrix products in fp16, and in bf16 where the GPU has it",
    needs="bf16: compute capability 8.0; fp16: on the CPU torch 2.5",
    limits=(("fp16", _FP16), ("bf16", _BF16)),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    for name, dtype, limit in (("fp16", torch.float16, _FP16), ("bf16", torch.bfloat16, _BF16)):
        if not bench.computes(name):
            continue
        a, b = bench.random(512, 512, dtype=dtype, seed=1), bench.random(512, 512, dtype=dtype, seed=2)
        bench.compare(name, bench.put(a) @ bench.put(b), a.double() @ b.double(), limit)
    return bench.measurement()
