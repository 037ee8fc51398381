"""torch.compile of a block that a model repeats: regional compilation."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..compiling import TIMEOUT, can_compile
from ..gates import all_of, torch_from
from ..smoke import Measurement, Smoke

_LIMIT = 1e-5

SMOKE = Smoke(
    id="compile",
    tier="default",
    title="torch.compile of a block that a model repeats (regional compilation)",
    gate=all_of(torch_from(2, 2), can_compile),
    needs="torch 2.2; compute capability 7.0; a version of Python that this torch compiles for; on the CPU a C++ compiler",
    limits=(("compiled blocks", _LIMIT), ("graphs besides the first", 0.0)),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    timeout=TIMEOUT,
)

_LAYERS = 3


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    nn, F = torch.nn, bench.module("torch.nn.functional")

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(64))

        def forward(self, x: Any) -> Any:
            return x + F.gelu(x * self.scale + 1.0).softmax(-1)

    model = nn.Sequential(*(Block() for _ in range(_LAYERS)))
    x = bench.random(32, 64)
    with torch.no_grad():
        want = model.double()(x.double())
        model = model.float().to(bench.name)
        for block in model:
            block.compile(fullgraph=True)
        bench.compare("compiled blocks", model(bench.put(x)), want, _LIMIT)
    graphs = bench.module("torch._dynamo.utils").counters["stats"]["unique_graphs"]
    if bench.version >= (2, 5):  # since then blocks of one class share their code
        bench.measured("graphs besides the first", abs(float(graphs) - 1), 0.0)
    return bench.measurement(blocks=_LAYERS, graphs=graphs)
