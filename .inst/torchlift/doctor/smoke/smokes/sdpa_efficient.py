"""Attention by the memory-efficient kernel."""

from __future__ import annotations

from ..attention import AOTRITON, NO_KERNEL, all_limits, capability_of_release, run_attention
from ..bench import Bench
from ..gates import all_of, rocm_architecture, torch_from
from ..smoke import Measurement, Smoke

_TYPES = ("fp32", "fp16", "bf16")

SMOKE = Smoke(
    id="sdpa-efficient",
    tier="default",
    title="Attention forward and backward by the memory-efficient kernel (scaled_dot_product_attention)",
    gate=all_of(torch_from(2, 3), capability_of_release((5, 0)), rocm_architecture(AOTRITON)),
    needs=f"torch 2.3; compute capability 5.0 to 9.0, to 12.0 from torch 2.7, to 12.1 from torch 2.8; on AMD {', '.join(AOTRITON)}",
    limits=all_limits(_TYPES),
    kinds=("cuda", "rocm"),
    signatures=(NO_KERNEL,),
)


def run(bench: Bench) -> Measurement:
    return run_attention(bench, "EFFICIENT_ATTENTION", _TYPES)
