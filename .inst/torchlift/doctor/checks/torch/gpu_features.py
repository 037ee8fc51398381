"""What the GPUs are too old for, in one line."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note, ok
from torchlift.doctor.derived.naming import spelled
from torchlift.doctor.derived.visible_gpus import names, visible_gpus
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="gpu-features",
    group="torch",
    title="The GPUs can use torch's fast paths",
    why=(
        "Kernels for newer GPUs refuse older ones: `No available kernel. Aborting execution.` from scaled dot product "
        "attention when flash attention alone was allowed, or an error that names the compute capability for FP8."
    ),
    sources=("Capability gates in libtorch_cuda.so of torch 2.12.1 and 2.15.0, read 2026-11-21",),
)

_GATES = (
    ((8, 0), "flash and cuDNN attention"),
    ((8, 9), "FP8 matrix products"),
    ((10, 0), "NVFP4 matrix products"),
)
"""Lowest compute capability and feature; source: strings in libtorch_cuda.so of torch 2.12.1 and 2.15.0."""


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None:
        return
    known = [gpu for gpu in visible_gpus(facts).gpus if gpu.capability is not None]
    if not known:
        return
    lowest = min(gpu.capability for gpu in known if gpu.capability is not None)
    evidence = tuple(
        Evidence(
            feature,
            spelled(lowest),
            needed=f"compute capability {spelled(gate)}",
            source="libtorch_cuda.so of torch 2.15.0",
        )
        for gate, feature in _GATES
    )
    if lowest < (8, 0):
        oldest = [gpu for gpu in known if gpu.capability == lowest]
        yield note(
            f"{names(oldest)} cannot use flash attention or FP8"
            + (": attention takes the memory-efficient kernel" if lowest >= (5, 0) else ""),
            evidence=evidence,
            confidence="table",
        )
        return
    able = [feature for gate, feature in _GATES if lowest >= gate]
    yield ok(f"All GPUs in view can use {' and '.join(able)}", evidence=evidence, confidence="table")
