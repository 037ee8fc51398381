"""Attention with a score function and a block mask of the user, compiled."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..compiling import TIMEOUT, can_compile
from ..gates import all_of, capability_from, torch_from, torch_from_on_cpu
from ..smoke import Measurement, Smoke

_HALF, _FP32 = 2e-2, 1e-5

SMOKE = Smoke(
    id="flex-attention",
    tier="full",
    title="FlexAttention, compiled, with a score function and a block mask",
    gate=all_of(torch_from(2, 5), torch_from_on_cpu(2, 6), capability_from(8, 0), can_compile),
    needs="torch 2.5 (on the CPU 2.6); compute capability 8.0; what compile needs",
    limits=(("fp16", _HALF), ("fp32", _FP32)),
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
    with torch.no_grad():
        got = attend(bench.put(q), bench.put(k), bench.put(v), score_mod=closer_is_better, block_mask=mask)
    distance = (torch.arange(256).unsqueeze(1) - torch.arange(256)).double()
    scores = q.double() @ k.double().mT / 64**0.5 - 0.05 * distance.abs()
    weights = scores.masked_fill(distance < 0, float("-inf")).softmax(-1)
    bench.compare(name, got, weights @ v.double(), limit)
    return bench.measurement()
