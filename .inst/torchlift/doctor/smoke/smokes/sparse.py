"""A sparse matrix in compressed rows times a dense one."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Smoke

_LIMIT = 1e-5

SMOKE = Smoke(
    id="sparse",
    tier="full",
    title="A sparse matrix times a dense one (cuSPARSE on NVIDIA GPUs)",
    limits=(("csr @ dense", _LIMIT),),
    kinds=("cuda", "rocm", "xpu", "cpu"),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    generator = torch.Generator().manual_seed(3)
    dense = bench.random(256, 256) * (torch.rand(256, 256, generator=generator) < 0.1)
    right = bench.random(256, 64, seed=4)
    # Compressed where there is a kernel for that everywhere: on the CPU, and moved.
    sparse = dense.to_sparse_csr()
    there = torch.sparse_csr_tensor(
        bench.put(sparse.crow_indices()), bench.put(sparse.col_indices()), bench.put(sparse.values()), size=dense.shape
    )
    bench.compare("csr @ dense", there @ bench.put(right), dense.double() @ right.double(), _LIMIT)
    return bench.measurement()
