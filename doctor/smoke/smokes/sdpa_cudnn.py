"""Attention by the cuDNN's kernel."""

from __future__ import annotations

from ..attention import NO_KERNEL, all_limits, run_attention
from ..bench import Bench
from ..gates import all_of, capability_from, torch_from
from ..smoke import Measurement, Smoke

_TYPES = ("fp16", "bf16")

SMOKE = Smoke(
    id="sdpa-cudnn",
    tier="default",
    title="Attention forward and backward by the cuDNN's kernel (scaled_dot_product_attention)",
    gate=all_of(torch_from(2, 5), capability_from(8, 0)),
    needs="torch 2.5; compute capability 8.0",
    limits=all_limits(_TYPES),
    kinds=("cuda",),
    signatures=(NO_KERNEL,),
)


def run(bench: Bench) -> Measurement:
    return run_attention(bench, "CUDNN_ATTENTION", _TYPES)
