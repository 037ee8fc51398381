"""The backward pass of a whole step is captured as one graph."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..compiling import TIMEOUT, dynamo
from ..gates import all_of, torch_from
from ..smoke import Measurement, Smoke

_LIMIT = 1e-5
_STEPS = 3

SMOKE = Smoke(
    id="compiled-autograd",
    tier="full",
    title="Compiled autograd captures the backward pass, and the gradients are right",
    gate=all_of(torch_from(2, 6), dynamo),
    needs="torch 2.6; a version of Python that this torch compiles for",
    limits=(("steps without a captured backward pass", 0.0), ("gradient", _LIMIT)),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    timeout=TIMEOUT,
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    counters = bench.module("torch._dynamo.utils").counters
    x, start = bench.random(8, 16, seed=1), bench.random(16, 4, seed=2)
    weight = bench.put(start).clone().requires_grad_()
    there = bench.put(x)

    # No code is generated: that is what the smoke compile is for.
    def step(x: Any) -> Any:
        loss = (x @ weight).tanh().square().sum()
        loss.backward()
        return loss

    with bench.module("torch._dynamo.config").patch(compiled_autograd=True):
        compiled = torch.compile(step, backend="aot_eager")
        for _ in range(_STEPS):
            weight.grad = None
            compiled(there)
    captured = int(counters["compiled_autograd"]["captures"])
    wide = start.double().requires_grad_()
    (x.double() @ wide).tanh().square().sum().backward()
    bench.measured("steps without a captured backward pass", 0.0 if captured else float(_STEPS), 0.0)
    bench.compare("gradient", weight.grad, wide.grad, _LIMIT)
    return bench.measurement(captured=captured)
