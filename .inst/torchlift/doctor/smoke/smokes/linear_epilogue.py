"""A product with bias, and GELU after it: what cuBLASLt does in one kernel."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Signature, Smoke

_LIMITS = (("fp32", 3e-3), ("fp16", 3e-3), ("bf16", 2e-2))
_HEURISTIC = Signature(
    "cublaslt-heuristic",
    r"HEURISTIC|heuristic",
    "cuBLASLt found no algorithm for this shape and type on this GPU",
    "Reinstall nvidia-cublas in torch's version; try torch.backends.cuda.preferred_blas_library('cublas')",
    likely=True,
)

SMOKE = Smoke(
    id="linear-epilogue",
    tier="default",
    title="Linear layers with bias and GELU (cuBLASLt on NVIDIA GPUs)",
    needs="bf16: compute capability 8.0; fp16: on the CPU torch 2.5",
    limits=_LIMITS,
    signatures=(_HEURISTIC,),
)


def run(bench: Bench) -> Measurement:
    torch, F = bench.torch, bench.module("torch.nn.functional")
    types = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    for name, limit in _LIMITS:
        if not bench.computes(name):
            continue
        dtype = types[name]
        x, w = bench.random(256, 512, dtype=dtype, seed=1), bench.random(384, 512, dtype=dtype, seed=2)
        b = bench.random(384, dtype=dtype, seed=3)
        got = F.gelu(F.linear(bench.put(x), bench.put(w), bench.put(b)), approximate="tanh")
        want = F.gelu(F.linear(x.double(), w.double(), b.double()), approximate="tanh")
        bench.compare(name, got, want, limit)
    return bench.measurement()
