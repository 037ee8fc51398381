"""Decompositions and solvers: cuSOLVER, and MAGMA where torch chooses it."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..smoke import Measurement, Signature, Smoke

_LIMIT = 1e-5
_PARTS = ("singular value decomposition", "QR", "LU", "solve", "Cholesky", "eigenvalues of a general matrix")
_TURING = Signature(
    "magma-without-this-gpu",
    r"no kernel image is available for execution on the device",
    "torch 2.11 to 2.15 for Linux x86_64 embeds MAGMA kernels for compute capability 8.0 and newer only, so that "
    "routines that torch sends to MAGMA have none for Turing (7.5)",
    "torch.backends.cuda.preferred_linalg_library('cusolver')",
    likely=True,
)

SMOKE = Smoke(
    id="linalg",
    tier="default",
    title="SVD, QR, LU, Cholesky, solve and general eigenvalues (cuSOLVER and MAGMA on NVIDIA GPUs)",
    needs="general eigenvalues: NVIDIA, AMD or CPU",
    reference="the definition: the product of the factors is the matrix, the eigenvalues add up to the trace, in fp64",
    limits=tuple((part, _LIMIT) for part in _PARTS),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(_TURING,),
    timeout=120.0,
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    linalg = torch.linalg
    size = 96
    x = bench.random(4, size, size)
    a, there = x.double(), bench.put(x)
    scale = a.abs().max().item() * size**0.5

    def residual(part: str, product: Any) -> None:
        bench.measured(part, (product - a).abs().max().item() / scale, _LIMIT)

    def wide(tensor: Any) -> Any:
        return tensor.cpu().double()

    u, s, v = map(wide, linalg.svd(there))
    residual(_PARTS[0], (u * s.unsqueeze(-2)) @ v)
    q, r = map(wide, linalg.qr(there))
    residual(_PARTS[1], q @ r)
    p, l, upper = map(wide, linalg.lu(there))  # noqa: E741
    residual(_PARTS[2], p @ l @ upper)
    b = bench.random(4, size, 8, seed=9)
    solution = wide(linalg.solve(there, bench.put(b)))
    bench.measured(
        _PARTS[3], (a @ solution - b).abs().max().item() / (scale * max(solution.abs().max().item(), 1.0)), _LIMIT
    )
    positive = x @ x.mT + size * torch.eye(size)
    factor = wide(linalg.cholesky(bench.put(positive)))
    bench.compare(_PARTS[4], factor @ factor.mT, positive.double(), _LIMIT)
    if bench.type in ("cuda", "cpu"):
        sums = linalg.eigvals(there).cpu().real.double().sum(-1)
        trace = a.diagonal(dim1=-2, dim2=-1).sum(-1)
        bench.measured(_PARTS[5], (sums - trace).abs().max().item() / scale, _LIMIT)
    return bench.measurement()
