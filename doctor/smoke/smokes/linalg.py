"""Decompositions and solvers: cuSOLVER, and MAGMA where torch chooses it."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..smoke import Measurement, Signature, Smoke

_LIMIT = 1e-5
_PARTS = ("singular value decomposition", "QR", "LU", "solve", "Cholesky", "eigenvalues of a general matrix")
# An H200 with torch 2.11.0+cu130 gave 2.0e-6 and 7.1e-6 for the first and the last, at most 1.9e-7 for the others (2026-11-26).
_LIMITS = dict.fromkeys(_PARTS, _LIMIT) | {_PARTS[0]: 3e-5, _PARTS[5]: 1e-4}
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
    needs="general eigenvalues: CPU, NVIDIA and AMD, where torch has MAGMA or cuSOLVER of CUDA 12.8",
    reference="the definition: the product of the factors is the matrix, the eigenvalues add up to the trace, in fp64",
    limits=tuple(_LIMITS.items()),
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
        bench.measured(part, (product - a).abs().max().item() / scale, _LIMITS[part])

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
    missing = None
    if bench.type in ("cuda", "cpu"):
        missing = _eigenvalues(bench, there, a, scale)
    return bench.measurement(**({"not run": missing} if missing else {}))


def _eigenvalues(bench: Bench, there: Any, a: Any, scale: float) -> str | None:
    """Of a general matrix; or why not: hipSolver and the cuSOLVER of CUDA before 12.8 have none, and then torch needs MAGMA
    (`linalg_eig_kernel` in aten/src/ATen/native/cuda/linalg/BatchLinearAlgebra.cpp), which wheels for aarch64 lacked."""
    try:
        values = bench.torch.linalg.eigvals(there)
    except RuntimeError as error:
        if "MAGMA" not in str(error) or bench.torch.cuda.has_magma:
            raise
        return f"{_PARTS[5]}: {error}"
    trace = a.diagonal(dim1=-2, dim2=-1).sum(-1)
    off = (values.cpu().real.double().sum(-1) - trace).abs().max().item()
    bench.measured(_PARTS[5], off / scale, _LIMITS[_PARTS[5]])
    return None
