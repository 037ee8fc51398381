"""Graphs by the device-neutral name of torch 2.12.

Up to torch 2.15.0 only the XPU backend registers a `GraphImplInterface` (libtorch_cuda.so of the 2.15.0 wheel has none;
pytorch pull requests 171313 and 190307 are open, read 2026-11-22): CUDA's own graphs have the smoke cuda-graph.
"""

from __future__ import annotations

from ..bench import Bench
from ..gates import torch_from
from ..smoke import Measurement, Skip, Smoke

SMOKE = Smoke(
    id="accelerator-graph",
    tier="default",
    title="A graph is captured and replayed through torch.accelerator.Graph",
    gate=torch_from(2, 12, "accelerator.Graph"),
    needs="torch 2.12; a backend that offers graphs by this name, which is XPU up to torch 2.15",
    reference="the same without a graph on the same device, bit for bit",
    limits=tuple((f"replay {number}", 0.0) for number in (1, 2, 3)),
    kinds=("cuda", "rocm", "xpu"),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    torch.accelerator.set_device_index(bench.index)
    inputs = [bench.put(bench.random(64, 64, seed=seed)) for seed in range(3)]
    static = inputs[0].clone()
    out = torch.empty_like(static)

    def work() -> None:
        out.copy_((static * 2 + 1).relu().cumsum(0))

    stream = torch.Stream(device=bench.name)
    stream.wait_stream(torch.accelerator.current_stream())
    with stream:
        work()
    stream.synchronize()
    try:
        graph = torch.accelerator.Graph()
        with stream, graph:
            work()
    except (RuntimeError, NotImplementedError) as error:
        if "not supported on device type" not in str(error):
            raise
        raise Skip(
            f"torch {torch.__version__} has no torch.accelerator.Graph for this kind of device ({error}); a later release may"
        ) from None
    for number, values in enumerate(inputs):
        static.copy_(values)
        bench.synchronize()
        graph.replay()
        bench.synchronize()
        got = out.clone()
        work()
        bench.exact(f"replay {number + 1}", got, out.cpu())
    return bench.measurement()
