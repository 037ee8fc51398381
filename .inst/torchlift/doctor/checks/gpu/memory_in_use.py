"""GPU memory that other programs hold."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="memory-in-use",
    group="gpu",
    title="GPU memory is free",
    why=(
        "What other programs hold of a GPU's memory is missing here: `torch.OutOfMemoryError: CUDA out of memory` with "
        "little of it `allocated by PyTorch`. Programs that were killed may hold memory for a while."
    ),
    sources=("torch 2.15.0, text of torch.OutOfMemoryError",),
)

_NEARLY_ALL = 0.9


def look(facts: Facts) -> Iterator[Result]:
    free = False
    for gpu in facts.gpus:
        used, total = gpu.memory_used, gpu.memory_total
        if used is None or total is None or total <= 0 or used < 0:
            continue
        if used < _NEARLY_ALL * total:
            free = True
            continue
        yield note(
            f"{gpu_label(gpu)} has {max(total - used, 0) / 2**30:.1f} of {total / 2**30:.1f} GiB left",
            evidence=(Evidence(f"memory in use on GPU {gpu.index}", f"{used / 2**30:.1f} GiB", source="NVML"),),
            remedy=Remedy("See which programs hold it", "nvidia-smi"),
        )
    if free:
        yield ok("GPU memory is free")
