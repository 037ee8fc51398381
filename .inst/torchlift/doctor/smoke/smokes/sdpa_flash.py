"""Attention by the flash kernel."""

from __future__ import annotations

from ..attention import AOTRITON, NO_KERNEL, all_limits, capability_of_release, fused_on_intel, run_attention
from ..bench import Bench
from ..gates import all_of, flash_on_windows, rocm_architecture, torch_from
from ..smoke import Measurement, Smoke

_TYPES = ("fp16", "bf16")

SMOKE = Smoke(
    id="sdpa-flash",
    tier="default",
    title="Attention forward and backward by the flash kernel (scaled_dot_product_attention)",
    gate=all_of(
        torch_from(2, 3),
        flash_on_windows,
        capability_of_release((8, 0)),
        rocm_architecture(AOTRITON),
        fused_on_intel,
    ),
    needs="torch 2.3, on Windows 2.14; compute capability 8.0 to 9.0, to 12.0 from torch 2.7, to 12.1 from torch 2.8; "
    f"on AMD {', '.join(AOTRITON)}; on Intel Linux, torch 2.13 and an Arc of the B-series",
    limits=all_limits(_TYPES),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(NO_KERNEL,),
)


def run(bench: Bench) -> Measurement:
    return run_attention(bench, "FLASH_ATTENTION", _TYPES)
