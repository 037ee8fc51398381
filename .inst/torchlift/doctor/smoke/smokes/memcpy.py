"""Data comes back from the device as it went there."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import GPUS, Measurement, Smoke

SMOKE = Smoke(
    id="memcpy",
    tier="quick",
    title="Data comes back from the device as it went there, from pageable and pinned memory",
    reference="the same bytes",
    limits=(
        ("pageable memory, there and back", 0.0),
        ("copy on the device", 0.0),
        ("pinned memory, there and back", 0.0),
    ),
)

_BYTES = 8 << 20


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    generator = torch.Generator().manual_seed(1)
    pattern = torch.randint(0, 256, (_BYTES,), generator=generator, dtype=torch.uint8)
    there = pattern.to(bench.name, copy=True)
    copy = torch.empty_like(there).copy_(there)
    bench.synchronize()
    bench.exact("pageable memory, there and back", there, pattern)
    bench.exact("copy on the device", copy, pattern)
    if bench.kind in GPUS and bench.kind != "mps":
        pinned = pattern.pin_memory()
        back = torch.empty(_BYTES, dtype=torch.uint8).pin_memory()
        there.zero_()
        there.copy_(pinned, non_blocking=True)
        back.copy_(there, non_blocking=True)
        bench.synchronize()
        bench.exact("pinned memory, there and back", back, pattern)
    return bench.measurement()
