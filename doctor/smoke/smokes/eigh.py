"""Eigenvalues of many small symmetric matrices at once, which torch 2.12 announced as much faster."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ..bench import Bench
from ..smoke import Measurement, Smoke

if TYPE_CHECKING:
    from collections.abc import Callable

# Ten times what Jacobi, by which CUDA solves a batch, gave in fp32 on an H200 with torch 2.11.0+cu130 (2026-11-26): 4.5e-6,
# 3.9e-5 and 3.4e-5. LAPACK on the CPU stays below 1e-6.
_TYPES = ("fp32", "complex64")
_PARTS = (("residual A Q - Q L", 5e-5), ("orthogonality of Q", 4e-4), ("eigenvalues", 3e-4))

# Announced is a hundredth from torch 2.12 on; a batch that takes longer than its matrices one by one is broken. Elsewhere torch
# itself loops. On the CPU the two take turns at being hindered by other programs: nothing is judged there.
_TIME, _SLOWEST = "time of a batch, in loops", 5.0
_TIME_2_12, _SLOWEST_2_12 = "time of a batch, in loops (NVIDIA, torch 2.12)", 1.0

SMOKE = Smoke(
    id="eigh",
    tier="default",
    title="Batched eigenvalue decompositions (torch.linalg.eigh), timed against a loop",
    reference="the definition: A Q = Q L with orthogonal Q, in fp64; eigenvalues by fp64 on the CPU",
    limits=(
        *((f"{name}, {part}", limit) for name in _TYPES for part, limit in _PARTS),
        (_TIME, _SLOWEST),
        (_TIME_2_12, _SLOWEST_2_12),
    ),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    timeout=120.0,
)

_BATCH, _ON_CPU, _FEW, _SIZE = 64, 16, 4, 128


def _check(bench: Bench, name: str, matrices: Any) -> None:
    """Eigenvalues and vectors of matrices by the device, against the definition."""
    torch = bench.torch
    values, vectors = torch.linalg.eigh(bench.put(matrices))
    bench.synchronize()
    wide = torch.complex128 if matrices.is_complex() else torch.float64
    a, v, q = matrices.to(wide), values.cpu().double(), vectors.cpu().to(wide)
    scale = a.abs().max().item() * _SIZE**0.5
    residual = (a @ q - q * v.unsqueeze(-2)).abs().max().item() / scale
    off = (q.mH @ q - torch.eye(_SIZE, dtype=wide)).abs().max().item()
    bench.measured(f"{name}, residual A Q - Q L", residual, SMOKE.limit(f"{name}, residual A Q - Q L"))
    bench.measured(f"{name}, orthogonality of Q", off, SMOKE.limit(f"{name}, orthogonality of Q"))
    bench.compare(f"{name}, eigenvalues", values, torch.linalg.eigvalsh(a), SMOKE.limit(f"{name}, eigenvalues"))


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    x = bench.random(_ON_CPU if bench.kind == "cpu" else _BATCH, _SIZE, _SIZE)
    x = (x + x.mT) / 2
    _check(bench, "fp32", x)
    if bench.kind != "mps":  # no complex decompositions there
        z = torch.complex(bench.random(_FEW, _SIZE, _SIZE, seed=1), bench.random(_FEW, _SIZE, _SIZE, seed=2))
        _check(bench, "complex64", (z + z.mH) / 2)
    there = bench.put(x)
    together, loop = (min(_seconds(bench, work, there) for _ in range(3)) for work in (_batch, _loop))
    share = together / loop
    if bench.kind == "cuda" and bench.version >= (2, 12):
        bench.measured(_TIME_2_12, share, _SLOWEST_2_12)
    elif bench.kind != "cpu":
        bench.measured(_TIME, share, _SLOWEST)
    return bench.measurement(batched_seconds=together, loop_seconds=loop, faster_than_loop=round(1 / share, 2))


def _batch(bench: Bench, matrices: Any) -> None:
    bench.torch.linalg.eigh(matrices)


def _loop(bench: Bench, matrices: Any) -> None:
    for matrix in matrices:
        bench.torch.linalg.eigh(matrix)


def _seconds(bench: Bench, work: Callable[[Bench, Any], None], matrices: Any) -> float:
    bench.synchronize()
    started = time.perf_counter()
    work(bench, matrices)
    bench.synchronize()
    return time.perf_counter() - started
