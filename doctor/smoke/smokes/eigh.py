"""Eigenvalues of many small symmetric matrices at once, which torch 2.12 announced as much faster."""

from __future__ import annotations

import time

from ..bench import Bench
from ..smoke import Measurement, Smoke

_LIMIT = 1e-5

SMOKE = Smoke(
    id="eigh",
    tier="default",
    title="Batched eigenvalue decompositions (torch.linalg.eigh), timed against a loop",
    reference="the definition: A Q = Q L with orthogonal Q, in fp64; eigenvalues by fp64 on the CPU",
    limits=(("residual A Q - Q L", _LIMIT), ("orthogonality of Q", _LIMIT), ("eigenvalues", _LIMIT)),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    timeout=120.0,
)

_BATCH, _SIZE = 64, 128


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    x = bench.random(_BATCH, _SIZE, _SIZE)
    x = (x + x.mT) / 2
    there = bench.put(x)
    values, vectors = torch.linalg.eigh(there)
    bench.synchronize()
    a, v, q = x.double(), values.cpu().double(), vectors.cpu().double()
    scale = a.abs().max().item() * _SIZE**0.5
    residual = (a @ q - q * v.unsqueeze(-2)).abs().max().item() / scale
    identity = torch.eye(_SIZE, dtype=torch.float64)
    bench.measured("residual A Q - Q L", residual, _LIMIT)
    bench.measured("orthogonality of Q", (q.mT @ q - identity).abs().max().item(), _LIMIT)
    bench.compare("eigenvalues", values, torch.linalg.eigvalsh(a), _LIMIT)

    started = time.perf_counter()
    torch.linalg.eigh(there)
    bench.synchronize()
    together = time.perf_counter() - started
    started = time.perf_counter()
    for matrix in there:
        torch.linalg.eigh(matrix)
    bench.synchronize()
    loop = time.perf_counter() - started
    return bench.measurement(batched_seconds=together, loop_seconds=loop, faster_than_loop=round(loop / together, 2))
