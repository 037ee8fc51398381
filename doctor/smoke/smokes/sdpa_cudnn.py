"""Attention by the cuDNN's kernel."""

from __future__ import annotations

from ..attention import NO_KERNEL, all_limits, capability_of_release, run_attention
from ..bench import Bench
from ..gates import all_of, torch_from
from ..smoke import Measurement, Smoke

_TYPES = ("fp16", "bf16")

SMOKE = Smoke(
    id="sdpa-cudnn",
    tier="default",
    title="Attention forward and backward by the cuDNN's kernel (scaled_dot_product_attention)",
    needs="torch 2.5 with cuDNN 9; compute capability 8.0 to 9.0, to 12.0 from torch 2.7, to 12.1 from torch 2.8",
    limits=all_limits(_TYPES),
    kinds=("cuda",),
    signatures=(NO_KERNEL,),
)


def _cudnn(bench: Bench) -> str | None:
    """`can_use_cudnn_attention` refuses what is older than 9.0.0 (sdp_utils.cpp of pytorch/pytorch at 001f694)."""
    version = bench.torch.backends.cudnn.version()
    return None if version is None or version >= 90000 else f"needs cuDNN 9; this torch has {version}"


gate = all_of(torch_from(2, 5), capability_of_release((8, 0)), _cudnn)


def run(bench: Bench) -> Measurement:
    return run_attention(bench, "CUDNN_ATTENTION", _TYPES)
