"""Packages outside of torch's family whose wheels are made for one torch or one CUDA: they hold the torch beside them."""

from __future__ import annotations

import re
from functools import lru_cache

from torchlift.dependencies.pin import Pin
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.dependencies.installed.reading import FAMILY, sets_of
from torchlift.view.text import TextView

CUDA_LOCAL = lazy_pattern(r"(?:pt\d*)?cu\d{2,3}")
"""Local versions that name a CUDA."""

# Their wheels are built for one release of torch, or for one release and one CUDA.
_BUILT_FOR_ONE_TORCH = frozenset({
    "apex", "auto-gptq", "causal-conv1d", "dgl", "fbgemm-gpu", "flash-attn", "flashinfer-python", "k2", "mamba-ssm", "mmcv",
    "mmcv-full", "natten", "pyg-lib", "pytorch3d", "sglang", "torch-cluster", "torch-scatter", "torch-sparse",
    "torch-spline-conv", "torch-tensorrt", "torchcomms", "torchdata", "torchrec", "torchtext", "vllm", "xformers", "torch-npu", "torch-xla",
    "torch-directml", "torchcodec", "intel-extension-for-pytorch", "transformer-engine", "transformer-engine-torch",
})  # fmt: skip
_VERSION_OF_ANOTHER = lazy_pattern(
    rf"\b({'|'.join(name.replace('-', '[-_]') for name in sorted(_BUILT_FOR_ONE_TORCH))})[-_]version[\"']?\s*[:=]\s*[\"']?\d",
    re.IGNORECASE,
)


def is_bound(pin: Pin) -> bool:
    """Whether a package outside of the family is made for one torch or one CUDA."""
    if pin.name in FAMILY:
        return False
    local = any(clause.build and CUDA_LOCAL.match(clause.build) for clause in pin.clauses)
    pinned = pin.name in _BUILT_FOR_ONE_TORCH and bool(pin.clauses)
    return local or pinned or re.fullmatch(r"nvidia-.*-cu\d+", pin.name) is not None


@lru_cache(maxsize=8)
def bound_beside(view: TextView) -> str | None:
    """A package outside of the family that a file pins, or gives a version, and that is made for one torch or one CUDA."""
    bound = next((pin.name for item in sets_of(view) for pin in item.pins if is_bound(pin)), None)
    found = _VERSION_OF_ANOTHER.search(view.code) if bound is None else None
    return found[1] if found else bound
