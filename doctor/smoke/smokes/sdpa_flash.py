"""Attention by the flash kernel."""

from __future__ import annotations

from ..attention import NO_KERNEL, all_limits, run_attention
from ..bench import Bench
from ..gates import all_of, capability_between, flash_on_windows, rocm_architecture, torch_from
from ..smoke import Measurement, Smoke

_TYPES = ("fp16", "bf16")

SMOKE = Smoke(
    id="sdpa-flash",
    tier="default",
    title="Attention forward and backward by the flash kernel (scaled_dot_product_attention)",
    gate=all_of(
        torch_from(2, 3),
        flash_on_windows,
        capability_between((8, 0), (12, 1)),
        rocm_architecture(("gfx90a", "gfx942", "gfx950")),
    ),
    needs="torch 2.3, on Windows 2.14; compute capability 8.0 to 12.1; on AMD gfx90a, gfx942, gfx950",
    limits=all_limits(_TYPES),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(NO_KERNEL,),
)


def run(bench: Bench) -> Measurement:
    return run_attention(bench, "FLASH_ATTENTION", _TYPES)
