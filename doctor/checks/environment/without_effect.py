"""Environment variables that do nothing for the installed torch."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.facts import Facts


def look(facts: Facts) -> Iterator[Result]:
    torch = facts.torch
    if torch is None or torch.cuda is None:
        return
    release = torch_build(torch).release or (0, 0)
    variables = facts.environment
    found = False
    if variables.get("TORCH_USE_CUDA_DSA"):
        found = True
        yield Result(
            "note",
            "TORCH_USE_CUDA_DSA does nothing here: it counts when torch is compiled",
            (Evidence("TORCH_USE_CUDA_DSA", variables["TORCH_USE_CUDA_DSA"], "unset", "discuss.pytorch.org/t/185597"),),
            None,
            "table",
        )
    if "PYTORCH_CUDA_ALLOC_CONF" in variables and "PYTORCH_ALLOC_CONF" in variables:
        found = True
        yield Result(
            "note",
            "PYTORCH_ALLOC_CONF is not read, because PYTORCH_CUDA_ALLOC_CONF, its older name, is set as well",
            (
                Evidence(
                    "PYTORCH_ALLOC_CONF",
                    variables["PYTORCH_ALLOC_CONF"],
                    "the only one",
                    "c10/cuda/CUDAAllocatorConfig.h",
                ),
                Evidence("PYTORCH_CUDA_ALLOC_CONF", variables["PYTORCH_CUDA_ALLOC_CONF"], "unset"),
            ),
            None,
            "table",
        )
    if variables.get("TORCH_NCCL_NAN_CHECK") and release >= (2, 15) and not _legacy_engine(variables):
        found = True
        yield Result(
            "note",
            "TORCH_NCCL_NAN_CHECK does nothing with the NCCL engine of torch 2.15: use TORCH_DIST_NAN_CHECK",
            (Evidence("TORCH_NCCL_NAN_CHECK", variables["TORCH_NCCL_NAN_CHECK"], "TORCH_DIST_NAN_CHECK", _C10D),),
            None,
            "table",
        )
    if not found:
        yield Result("ok", "No environment variable is set that this torch ignores")


def _legacy_engine(variables: dict[str, str]) -> bool:
    return variables.get("TORCH_DIST_USE_NCCL2") == "0"


_C10D = "torch/distributed/distributed_c10d.py of torch 2.15.0"

CHECK = Check(
    "without-effect",
    "environment",
    "No variable is set that torch ignores",
    "A variable that is set and not read makes one look in the wrong place: the advice `Compile with TORCH_USE_CUDA_DSA to "
    "enable device-side assertions` in CUDA's error texts, for one, is about building torch, not about running it.",
    look,
    (
        "https://discuss.pytorch.org/t/debugging-variables/185597",
        "c10/cuda/CUDAAllocatorConfig.h of torch 2.13.0",
        _C10D,
    ),
)
