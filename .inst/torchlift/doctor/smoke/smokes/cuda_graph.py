"""Work recorded once and replayed on changed inputs."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..smoke import Measurement, Smoke

SMOKE = Smoke(
    id="cuda-graph",
    tier="default",
    title="A CUDA graph is captured and replayed on changed inputs",
    reference="the same without a graph on the same device, bit for bit",
    limits=tuple((f"replay {number}", 0.0) for number in (1, 2, 3)),
    kinds=("cuda", "rocm"),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    inputs = [bench.put(bench.random(64, 64, seed=seed)) for seed in range(3)]
    static = inputs[0].clone()

    def work() -> Any:
        return (static * 2 + 1).relu().cumsum(0)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = work()
    for number, values in enumerate(inputs):
        static.copy_(values)
        graph.replay()
        bench.synchronize()
        bench.exact(f"replay {number + 1}", out, work().cpu())
    return bench.measurement()
