"""Two of four weights are zero: cuSPARSELt."""

from __future__ import annotations

from ..bench import Bench
from ..gates import all_of, capability_from, rocm_architecture, torch_from
from ..smoke import Measurement, Signature, Smoke

_LIMIT = 3e-3
_MISSING = Signature(
    "no-cusparselt",
    r"libcusparseLt|cuSPARSELt (is )?not (supported|available)|_cslt_compress",
    "cuSPARSELt is not installed, or torch was built without it",
    "Reinstall torch with its dependencies (nvidia-cusparselt)",
    likely=True,
)

_AMD = ("gfx942", "gfx950")

SMOKE = Smoke(
    id="sparse-24",
    tier="full",
    title="Products with 2:4 sparse weights (cuSPARSELt or CUTLASS, hipSPARSELt on AMD GPUs)",
    needs="torch 2.2; compute capability 8.0; on AMD gfx942, gfx950 and a torch with hipSPARSELt",
    limits=(("fp16, 2 of 4 @ dense", _LIMIT),),
    kinds=("cuda", "rocm"),
    signatures=(_MISSING,),
)


def _hip(bench: Bench) -> str | None:
    """Without hipSPARSELt torch falls back to CUTLASS, which is NVIDIA's (torch/sparse/semi_structured.py)."""
    if bench.kind != "rocm" or bench.torch.backends.cusparselt.is_available():
        return None
    return f"torch {bench.torch.__version__} is built without hipSPARSELt; a build for ROCm that has it runs this"


gate = all_of(torch_from(2, 2), capability_from(8, 0), rocm_architecture(_AMD), _hip)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    dtype = torch.float16
    mask = torch.tensor([0, 0, 1, 1]).tile((256, 64)).bool()
    weight = bench.random(256, 256, dtype=dtype, seed=1) * mask
    x = bench.random(256, 128, dtype=dtype, seed=2)
    sparse = bench.module("torch.sparse").to_sparse_semi_structured(bench.put(weight))
    bench.compare("fp16, 2 of 4 @ dense", torch.mm(sparse, bench.put(x)), weight.double() @ x.double(), _LIMIT)
    return bench.measurement()
