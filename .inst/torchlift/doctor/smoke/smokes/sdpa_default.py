"""Which kernel attention takes when nobody names one.

torch asks `_fused_sdp_choice`, whose answer is the number of an `SDPBackend`. cuDNN comes first on compute capability 9.0,
10.0 and 10.3 with a cuDNN after 9.15.0 (`check_prefer_cudnn_attention` in aten/src/ATen/native/transformers/cuda/sdp_utils.cpp
at pytorch/pytorch 001f694, read 2026-11-23), unless TORCH_CUDNN_SDPA_DEPRIORITIZED says otherwise.
"""

from __future__ import annotations

import os

from ..attention import AOTRITON, capability_of_release
from ..bench import Bench
from ..gates import all_of, rocm_architecture, torch_from
from ..smoke import Measurement, Smoke

_LIMIT = 3e-3
_CUDNN_FIRST = ((9, 0), (10, 0), (10, 3))
_CUDNN = 91500

SMOKE = Smoke(
    id="sdpa-default",
    tier="default",
    title="Attention takes a fast kernel by default, and cuDNN's where torch prefers it",
    gate=all_of(torch_from(2, 3), capability_of_release((5, 0)), rocm_architecture(AOTRITON)),
    needs=f"torch 2.3; compute capability 5.0 to 9.0, to 12.0 from torch 2.7, to 12.1 from torch 2.8; on AMD {', '.join(AOTRITON)}",
    limits=(("another kernel than the fastest", 0.0), ("output", _LIMIT)),
    kinds=("cuda", "rocm", "cpu"),
)


def _wanted(bench: Bench) -> tuple[str, ...]:
    """Names of backends, any of which is right here."""
    if bench.kind == "cpu":
        return ("FLASH_ATTENTION",)
    if bench.kind != "cuda" or bench.version < (2, 13) or "TORCH_CUDNN_SDPA_DEPRIORITIZED" in os.environ:
        return ("CUDNN_ATTENTION", "FLASH_ATTENTION", "EFFICIENT_ATTENTION")
    if bench.capability in _CUDNN_FIRST and (bench.torch.backends.cudnn.version() or 0) > _CUDNN:
        return ("CUDNN_ATTENTION",)
    return ("CUDNN_ATTENTION", "FLASH_ATTENTION", "EFFICIENT_ATTENTION")


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    backends = bench.module("torch.nn.attention").SDPBackend
    dtype = torch.float32 if bench.kind == "cpu" else torch.float16
    inputs = [bench.random(2, 4, 128, 64, dtype=dtype, seed=seed) for seed in range(3)]
    there = [bench.put(tensor) for tensor in inputs]
    chosen = torch._fused_sdp_choice(*there, None, 0.0, True)
    wanted = _wanted(bench)
    known = {getattr(backends, name).value: name for name in wanted if hasattr(backends, name)}
    attend = bench.module("torch.nn.functional").scaled_dot_product_attention
    bench.measured("another kernel than the fastest", float(chosen not in known), 0.0)
    want = attend(*(tensor.double() for tensor in inputs), is_causal=True)
    bench.compare("output", attend(*there, is_causal=True), want, _LIMIT)
    return bench.measurement(chosen=known.get(chosen, f"SDPBackend {chosen}"), wanted=list(wanted))
