"""Attention by the plain kernel."""

from __future__ import annotations

from ..attention import NO_KERNEL, all_limits, run_attention
from ..bench import Bench
from ..gates import torch_from
from ..smoke import Measurement, Smoke

_TYPES = ("fp32", "fp16", "bf16")

SMOKE = Smoke(
    id="sdpa-math",
    tier="default",
    title="Attention forward and backward by the plain kernel (scaled_dot_product_attention)",
    gate=torch_from(2, 3),
    needs="torch 2.3",
    limits=all_limits(_TYPES),
    kinds=("cuda", "rocm", "xpu", "mps", "cpu"),
    signatures=(NO_KERNEL,),
)


def run(bench: Bench) -> Measurement:
    return run_attention(bench, "MATH", _TYPES)
