"""Environment variables that do nothing for the installed torch."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note, ok
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.facts import Facts

_C10D = "torch/distributed/distributed_c10d.py of torch 2.15.0"

CHECK = Check(
    id="without-effect",
    group="environment",
    title="No variable is set that torch ignores",
    why=(
        "A variable that is set and not read makes one look in the wrong place: the advice `Compile with TORCH_USE_CUDA_DSA to "
        "enable device-side assertions` in CUDA's error texts, for one, is about building torch, not about running it."
    ),
    sources=(
        "https://discuss.pytorch.org/t/debugging-variables/185597",
        "c10/cuda/CUDAAllocatorConfig.h of torch 2.13.0",
        _C10D,
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    torch = facts.torch
    if torch is None or torch.cuda is None:
        return
    release = torch_build(torch).release or (0, 0)
    variables = facts.environment
    found = False
    if variables.get("TORCH_USE_CUDA_DSA"):
        found = True
        yield note(
            "TORCH_USE_CUDA_DSA does nothing here: it counts when torch is compiled",
            evidence=(
                Evidence(
                    "TORCH_USE_CUDA_DSA",
                    variables["TORCH_USE_CUDA_DSA"],
                    needed="unset",
                    source="discuss.pytorch.org/t/185597",
                ),
            ),
            confidence="table",
        )
    if "PYTORCH_CUDA_ALLOC_CONF" in variables and "PYTORCH_ALLOC_CONF" in variables:
        found = True
        yield note(
            "PYTORCH_ALLOC_CONF is not read, because PYTORCH_CUDA_ALLOC_CONF, its older name, is set as well",
            evidence=(
                Evidence(
                    "PYTORCH_ALLOC_CONF",
                    variables["PYTORCH_ALLOC_CONF"],
                    needed="the only one",
                    source="c10/cuda/CUDAAllocatorConfig.h",
                ),
                Evidence("PYTORCH_CUDA_ALLOC_CONF", variables["PYTORCH_CUDA_ALLOC_CONF"], needed="unset"),
            ),
            confidence="table",
        )
    if variables.get("TORCH_NCCL_NAN_CHECK") and release >= (2, 15) and not _legacy_engine(variables):
        found = True
        yield note(
            "TORCH_NCCL_NAN_CHECK does nothing with the NCCL engine of torch 2.15: use TORCH_DIST_NAN_CHECK",
            evidence=(
                Evidence(
                    "TORCH_NCCL_NAN_CHECK",
                    variables["TORCH_NCCL_NAN_CHECK"],
                    needed="TORCH_DIST_NAN_CHECK",
                    source=_C10D,
                ),
            ),
            confidence="table",
        )
    if not found:
        yield ok("No environment variable is set that this torch ignores")


def _legacy_engine(variables: dict[str, str]) -> bool:
    return variables.get("TORCH_DIST_USE_NCCL2") == "0"
