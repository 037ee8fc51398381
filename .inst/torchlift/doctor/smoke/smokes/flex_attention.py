"""Attention with a score function and a block mask of the user, compiled."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..compiling import TIMEOUT, can_compile
from ..gates import all_of, capability_from, torch_from, torch_from_on_cpu, torch_from_on_intel
from ..smoke import Measurement, Smoke

_HALF, _FP32 = 2e-2, 1e-5

SMOKE = Smoke(
    id="flex-attention",
    tier="full",
    title="FlexAttention, compiled, forward and on GPUs backward, with a score function and a block mask",
    gate=all_of(
        torch_from(2, 5), torch_from_on_cpu(2, 6), torch_from_on_intel(2, 9), capability_from(8, 0), can_compile
    ),
    needs="torch 2.5 (on the CPU 2.6, on Intel 2.9); compute capability 8.0; what compile needs",
    limits=(("fp16", _HALF), ("fp32", _FP32), *((f"fp16, gradient of {part}", 2 * _HALF) for part in "qkv")),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    timeout=TIMEOUT,
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    flex = bench.module("torch.nn.attention.flex_attention")
    dtype, limit, name = (torch.float32, _FP32, "fp32") if bench.kind == "cpu" else (torch.float16, _HALF, "fp16")
    q, k, v = (bench.random(1, 2, 256, 64, dtype=dtype, seed=seed) for seed in range(3))

    def closer_is_better(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return score - 0.05 * (i - j).abs()

    def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
        return i >= j

    mask = flex.create_block_mask(causal, None, None, 256, 256, device=bench.name)
    attend = torch.compile(flex.flex_attention, fullgraph=True)
    # Backward is for GPUs (`_validate_device` in torch/nn/attention/flex_attention.py: 2.13.0 line 2083, 2.15.0 line 2237).
    trains = bench.kind != "cpu"
    there = [bench.put(tensor).clone().requires_grad_(trains) for tensor in (q, k, v)]
    wide = [tensor.double().requires_grad_(trains) for tensor in (q, k, v)]
    got = attend(*there, score_mod=closer_is_better, block_mask=mask)
    distance = (torch.arange(256).unsqueeze(1) - torch.arange(256)).double()
    scores = wide[0] @ wide[1].mT / 64**0.5 - 0.05 * distance.abs()
    want = scores.masked_fill(distance < 0, float("-inf")).softmax(-1) @ wide[2]
    bench.compare(name, got, want, limit)
    if trains:
        seed = bench.random(1, 2, 256, 64, dtype=dtype, seed=3)
        got.backward(bench.put(seed))
        want.backward(seed.double())
        for part, mine, reference in zip("qkv", there, wide):
            bench.compare(f"{name}, gradient of {part}", mine.grad, reference.grad, 2 * limit)
    return bench.measurement()
