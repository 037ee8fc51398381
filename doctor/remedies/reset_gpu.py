"""How to reset a GPU."""

from __future__ import annotations

from torchlift.doctor.check import Remedy
from torchlift.doctor.facts import Facts, Gpu


def reset_gpu(facts: Facts, gpu: Gpu) -> Remedy:
    """The remedy that resets one GPU after the programs on it have ended."""
    if facts.system.container:
        return Remedy(f"On the host: end the programs on GPU {gpu.index} and reset it (nvidia-smi --gpu-reset)")
    where = gpu.uuid or str(gpu.index)
    return Remedy("End the programs that use it, then reset it", f"sudo nvidia-smi --gpu-reset -i {where}")
