"""Matrix products in fp32, with and without TF32."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Smoke

_FP32, _TF32 = 1e-5, 3e-3

SMOKE = Smoke(
    id="matmul-fp32",
    tier="quick",
    title="Matrix products in fp32, and in TF32 where the GPU has it",
    needs="TF32: compute capability 8.0",
    limits=(("fp32", _FP32), ("tf32", _TF32)),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    a, b = bench.random(512, 512, seed=1), bench.random(512, 512, seed=2)
    want = a.double() @ b.double()
    if bench.type != "cuda":
        bench.compare("fp32", bench.put(a) @ bench.put(b), want, _FP32)
        return bench.measurement()
    switch = torch.backends.cuda.matmul
    before = switch.allow_tf32
    try:
        switch.allow_tf32 = False
        bench.compare("fp32", bench.put(a) @ bench.put(b), want, _FP32)
        if bench.capability and bench.capability >= (8, 0):
            switch.allow_tf32 = True
            bench.compare("tf32", bench.put(a) @ bench.put(b), want, _TF32)
    finally:
        switch.allow_tf32 = before
    return bench.measurement()
