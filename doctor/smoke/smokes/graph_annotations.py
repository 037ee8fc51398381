"""Kernels of a CUDA graph keep the names that the program gave them, for traces of a profiler."""

from __future__ import annotations

from ..bench import Bench
from ..gates import torch_from
from ..smoke import Measurement, Skip, Smoke

_REGIONS = ("torchlift first", "torchlift second")

SMOKE = Smoke(
    id="graph-annotations",
    tier="full",
    title="Kernels of a CUDA graph keep the annotations of the program",
    needs="torch 2.13; cuda-bindings 13.1; a driver of CUDA 13.1",
    reference="the regions that were annotated, and the same without a graph, bit for bit",
    limits=(("regions without annotation", 0.0), ("replay", 0.0)),
    kinds=("cuda",),
)


def gate(bench: Bench) -> str | None:
    reason = torch_from(2, 13)(bench)
    if reason or (bench.has("cuda") and bench.has("cuda.bindings")):
        return reason
    return "needs the package cuda-bindings, 13.1 or newer; with it and a driver of CUDA 13.1 this runs"


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    # Private in 2.13.0 (torch/cuda/_graph_annotations.py), which 2.15.0's torch.cuda.graph_annotations re-exports.
    annotations = bench.module("torch.cuda._graph_annotations")
    if annotations._is_tools_id_unavailable():
        raise Skip("needs cuda-bindings 13.1 or newer and a driver of CUDA 13.1 or newer (cudaGraphNodeGetToolsId)")
    static = bench.put(bench.random(64, 64))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        (static * 2 + 1).relu()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, enable_annotations=True):
        with annotations.mark_kernels(_REGIONS[0]):
            middle = static * 2 + 1
        with annotations.mark_kernels(_REGIONS[1]):
            out = middle.relu()
    graph.replay()
    bench.synchronize()
    said = repr(list(annotations.get_kernel_annotations().values()))
    bench.measured("regions without annotation", float(sum(name not in said for name in _REGIONS)), 0.0)
    bench.exact("replay", out, (static * 2 + 1).relu().cpu())
    return bench.measurement()
