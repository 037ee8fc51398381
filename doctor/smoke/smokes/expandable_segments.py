"""Segments of the allocator that grow instead of being joined by new ones."""

from __future__ import annotations

import os
import platform

from ..bench import Bench
from ..gates import all_of, torch_from
from ..smoke import Measurement, Skip, Smoke

_BYTES = 32 << 20

SMOKE = Smoke(
    id="expandable-segments",
    tier="full",
    title="The allocator's segments grow (expandable_segments) and keep what is in them",
    needs="torch 2.3, on AMD 2.12; Linux, not under Windows; torch's own allocator",
    reference="the same bytes",
    limits=(("segments that cannot grow", 0.0), ("first block", 0.0), ("grown block", 0.0)),
    kinds=("cuda", "rocm"),
)


def _platform(bench: Bench) -> str | None:
    if bench.facts.get("windows") or "microsoft" in platform.release().lower():
        return "the driver of this system cannot map memory piece by piece; on Linux itself this runs"
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"):
        if "backend" in os.environ.get(name, ""):
            return f"{name} chooses another allocator; without that this runs"
    return torch_from(2, 12)(bench) if bench.kind == "rocm" else None


gate = all_of(torch_from(2, 3), _platform)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    # As torch's own tests do (test/test_cuda.py); the variable counts only before torch is imported.
    torch.cuda.memory._set_allocator_settings("expandable_segments:True")
    pattern = torch.arange(_BYTES // 4, dtype=torch.int32)
    try:
        first = bench.put(pattern)
        second = bench.put(pattern.repeat(3))
        bench.synchronize()
    except RuntimeError as error:
        if "not supported" not in str(error):
            raise
        raise Skip(
            f"this GPU cannot map memory piece by piece ({error}); whole GPUs can, some virtual ones not"
        ) from None
    grow = [segment for segment in torch.cuda.memory_snapshot() if segment.get("is_expandable")]
    bench.measured("segments that cannot grow", float(not grow), 0.0)
    bench.exact("first block", first, pattern)
    bench.exact("grown block", second, pattern.repeat(3))
    return bench.measurement(segments=len(grow))
