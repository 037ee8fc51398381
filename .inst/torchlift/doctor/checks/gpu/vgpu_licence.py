"""Virtual GPUs need a licence."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.derived.nvidia_driver import cuda_code
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="vgpu-licence",
    group="gpu",
    title="A virtual GPU has its licence",
    why=(
        "NVIDIA vGPU works without a licence for a while and is then slowed down step by step; CUDA is refused with "
        "`CUDA_ERROR_DEVICE_NOT_LICENSED`. The state is in `nvidia-smi -q` under `vGPU Software Licensed Product`."
    ),
    sources=("https://docs.nvidia.com/vgpu/latest/grid-licensing-user-guide/", "CUresult 102 of the CUDA driver API"),
)


def look(facts: Facts) -> Iterator[Result]:
    virtual = [gpu for gpu in facts.gpus if gpu.virtualization == "vgpu" or (gpu.name or "").startswith("GRID ")]
    remedy = Remedy(
        "See the licence's state; the licence server is set in /etc/nvidia/gridd.conf", "nvidia-smi -q | grep -i licen"
    )
    if cuda_code(facts) == 102:
        yield Result(
            breaks_torch(facts),
            "CUDA refuses this virtual GPU because it has no licence (error 102)",
            evidence=(Evidence("cuInit", "102", needed="0", source="libcuda"),),
            remedy=remedy,
        )
        return
    for gpu in virtual:
        yield note(
            f"{gpu_label(gpu)} is a virtual GPU, which needs NVIDIA's licence to keep its speed",
            evidence=(
                Evidence(f"virtualization of GPU {gpu.index}", gpu.virtualization or "by its name", source="NVML"),
            ),
            remedy=remedy,
            confidence="likely",
            link="https://docs.nvidia.com/vgpu/latest/grid-licensing-user-guide/",
        )
    if facts.gpus and not virtual and any(gpu.virtualization == "none" for gpu in facts.gpus):
        yield ok("The GPUs are not virtual")
