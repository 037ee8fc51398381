"""Scaled dot product attention, forward and backward, by one named kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .gates import capability_between, torch_from
from .smoke import Measurement, Signature

if TYPE_CHECKING:
    from .bench import Bench
    from .gates import Gate

_XE2 = frozenset((0xE202, *range(0xE20B, 0xE20E), *range(0xE210, 0xE213), 0xE215, 0xE216, *range(0xE220, 0xE224)))

LIMITS = (("fp32", 1e-5), ("fp16", 3e-3), ("bf16", 2e-2))
"""By type, for the output; the gradients, which are sums of many rounded products, get twice that."""

AOTRITON = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
"""Architectures of AMD that torch has fused attention for without an experiment's switch (torch/testing/_internal/common_cuda.py,
2.13.0 lines 73 to 75 and 2.15.0)."""

_UP_TO = (((2, 8), (12, 1)), ((2, 7), (12, 0)), ((0, 0), (9, 0)))
"""By release of torch: the highest compute capability that its fused kernels accept, as libtorch_cuda.so of the wheels says:
[sm80, sm120] in 2.7.0, [sm80, sm121] in 2.8.0, 2.9.0, 2.13.0 and 2.15.0 (read 2026-11-23); sm90 before."""

_PARTS = ("output", "gradient of q", "gradient of k", "gradient of v")

NO_KERNEL = Signature(
    "no-attention-kernel",
    r"No available kernel|No viable backend for scaled_dot_product_attention",
    "This kernel of scaled_dot_product_attention ought to run on this device, and torch refuses it; its warnings, in "
    "the output, say why",
    "Let torch choose another kernel (do without sdpa_kernel), and report it",
)


def capability_of_release(low: tuple[int, int]) -> Gate:
    """Gate: on NVIDIA GPUs, a compute capability from `low` to the highest that the fused kernels of this torch accept."""

    def gate(bench: Bench) -> str | None:
        high = next(high for release, high in _UP_TO if bench.version >= release)
        reason = capability_between(low, high)(bench)
        newest = _UP_TO[0][1]
        if reason is None or bench.capability is None or not high < bench.capability <= newest:
            return reason
        release = min(release for release, high in _UP_TO if bench.capability <= high)
        return f"{reason}; torch {release[0]}.{release[1]} runs it there"

    return gate


def fused_on_intel(bench: Bench) -> str | None:
    """Gate: on Intel GPUs, what PLATFORM_SUPPORTS_FLASH_ATTENTION_XPU asks: Linux, and Xe2 by the number of its PCI device
    (torch/testing/_internal/common_xpu.py, 2.13.0 and 2.15.0 alike); the release is the oldest that was read."""
    if bench.kind != "xpu":
        return None
    if bench.facts.get("windows"):
        return "torch has no flash attention for Intel GPUs on Windows; on Linux this runs"
    number = bench.facts.get("xpu_device")
    if number is not None and int(number) not in _XE2:
        return f"needs an Xe2 GPU (Arc B-series); {bench.name} is device {int(number):#06x}"
    return torch_from(2, 13)(bench)


def all_limits(types: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    """The limits of every comparison for these types."""
    return tuple(
        (f"{name}, {part}", limit if part == "output" else 2 * limit)
        for name, limit in LIMITS
        if name in types
        for part in _PARTS
    )


def run_attention(bench: Bench, backend: str, types: tuple[str, ...]) -> Measurement:
    """Causal attention by `torch.nn.attention.SDPBackend.<backend>` alone, for some of "fp32", "fp16", "bf16"."""
    torch = bench.torch
    choose = bench.module("torch.nn.attention")
    attend = bench.module("torch.nn.functional").scaled_dot_product_attention
    dtypes = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    limits = dict(all_limits(types))

    def results(leaves: list[Any], seed: Any) -> list[Any]:
        leaves = [leaf.clone().requires_grad_() for leaf in leaves]
        out = attend(*leaves, is_causal=True)
        out.backward(seed)
        return [out, *(leaf.grad for leaf in leaves)]

    for name in types:
        if not bench.computes(name):
            continue
        inputs = [bench.random(2, 4, 128, 64, dtype=dtypes[name], seed=seed) for seed in range(4)]
        with choose.sdpa_kernel(choose.SDPBackend.MATH):
            wanted = results([tensor.double() for tensor in inputs[:3]], inputs[3].double())
        with choose.sdpa_kernel(getattr(choose.SDPBackend, backend)):
            got = results([bench.put(tensor) for tensor in inputs[:3]], bench.put(inputs[3]))
        for part, mine, want in zip(_PARTS, got, wanted):
            bench.compare(f"{name}, {part}", mine, want, limits[f"{name}, {part}"])
    return bench.measurement()
