"""Scaled dot product attention, forward and backward, by one named kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .smoke import Measurement, Signature

if TYPE_CHECKING:
    from .bench import Bench

LIMITS = (("fp32", 1e-5), ("fp16", 3e-3), ("bf16", 2e-2))
"""By type, for the output; the gradients, which are sums of many rounded products, get twice that."""

_PARTS = ("output", "gradient of q", "gradient of k", "gradient of v")

NO_KERNEL = Signature(
    "no-attention-kernel",
    r"No available kernel|No viable backend for scaled_dot_product_attention",
    "This kernel of scaled_dot_product_attention ought to run on this device, and torch refuses it; its warnings, in "
    "the output, say why",
    "Let torch choose another kernel (do without sdpa_kernel), and report it",
)


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
