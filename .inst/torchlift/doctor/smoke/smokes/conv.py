"""Convolutions forward and backward: cuDNN, or MIOpen, or oneDNN."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..smoke import Measurement, Smoke

_FP32, _FP16 = 3e-3, 3e-3
_PARTS = ("output", "gradient of the input", "gradient of the weight")

SMOKE = Smoke(
    id="conv",
    tier="quick",
    title="Convolutions forward and backward (cuDNN on NVIDIA GPUs)",
    needs="fp16: on the CPU torch 2.5",
    limits=tuple((f"{name}, {part}", limit) for name, limit in (("fp32", _FP32), ("fp16", _FP16)) for part in _PARTS),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    convolve = bench.module("torch.nn.functional").conv2d
    # fp32 may use TF32 inside cuDNN, which is allowed by default.
    for name, dtype, limit in (("fp32", torch.float32, _FP32), ("fp16", torch.float16, _FP16)):
        if not bench.computes(name):
            continue
        x, w = bench.random(4, 16, 24, 24, dtype=dtype, seed=3), bench.random(32, 16, 3, 3, dtype=dtype, seed=4)
        seed = bench.random(4, 32, 24, 24, dtype=dtype, seed=5)

        def results(x: Any, w: Any, seed: Any) -> Any:
            x, w = x.requires_grad_(), w.requires_grad_()
            out = convolve(x, w, padding=1)
            out.backward(seed)
            return out, x.grad, w.grad

        want = results(x.double(), w.double(), seed.double())
        got = results(bench.put(x).clone(), bench.put(w).clone(), bench.put(seed))
        for part, mine, reference in zip(_PARTS, got, want):
            bench.compare(f"{name}, {part}", mine, reference, limit)
    version = torch.backends.cudnn.version() if bench.kind == "cuda" else None
    return bench.measurement(cudnn=version)
