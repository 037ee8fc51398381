"""Products that Inductor writes for the CPU itself, when it may choose (max-autotune)."""

from __future__ import annotations

import platform
from typing import Any

from ..bench import Bench
from ..compiling import TIMEOUT, can_compile
from ..gates import all_of, torch_from
from ..smoke import Measurement, Smoke

_LIMIT = 1e-5

SMOKE = Smoke(
    id="inductor-gemm",
    tier="full",
    title="Inductor writes a linear layer for the CPU itself (max-autotune)",
    needs="torch 2.6 with oneDNN; x86-64; a version of Python that this torch compiles for; a C++ compiler",
    limits=(("linear, relu", _LIMIT), ("layers without a template", 0.0)),
    kinds=("cpu",),
    timeout=TIMEOUT,
)


def _x86(bench: Bench) -> str | None:
    if platform.machine() not in ("x86_64", "AMD64"):
        return f"torch has these templates for x86-64; this is {platform.machine()}"
    return (
        None if bench.torch.backends.mkldnn.is_available() else "this torch is built without oneDNN; with it this runs"
    )


gate = all_of(torch_from(2, 6), _x86, can_compile)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    config = bench.module("torch._inductor.config")
    layer = torch.nn.Linear(64, 96)
    with torch.no_grad():
        layer.weight.copy_(bench.random(96, 64, seed=1))
        layer.bias.copy_(bench.random(96, seed=2))
    x = bench.random(64, 64, seed=3)

    def block(x: Any) -> Any:
        return layer(x).relu()

    with torch.no_grad(), config.patch(max_autotune=True, max_autotune_gemm_backends="CPP", freezing=True):
        got = torch.compile(block, fullgraph=True)(x)
    templates = int(bench.module("torch._dynamo.utils").counters["inductor"]["cpp_templated_kernel_counter"])
    want = (x.double() @ layer.weight.double().t() + layer.bias.double()).relu()
    bench.compare("linear, relu", got, want, _LIMIT)
    bench.measured("layers without a template", float(not templates), 0.0)
    return bench.measurement(templates=templates)
