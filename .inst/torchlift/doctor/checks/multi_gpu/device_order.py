"""The numbers of GPUs in torch and in nvidia-smi."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="device-order",
    group="multi-gpu",
    title="torch and nvidia-smi number the GPUs alike",
    why=(
        "CUDA puts the fastest GPU first, nvidia-smi goes by PCI address. With unlike GPUs CUDA_VISIBLE_DEVICES=0 is then not "
        "the GPU 0 of nvidia-smi, and a job lands on the wrong card: `CUDA out of memory` on one that looks empty."
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#env-vars (CUDA_DEVICE_ORDER)",),
)


def look(facts: Facts) -> Iterator[Result]:
    nvml = [gpu.uuid for gpu in facts.gpus]
    cuda = [device.uuid for device in facts.libcuda.devices]
    if len(nvml) < 2 or set(nvml) != set(cuda) or None in nvml or len(nvml) != len(cuda):
        return
    if nvml == cuda:
        yield ok("torch and nvidia-smi number the GPUs alike")
        return
    index = {gpu.uuid: gpu.index for gpu in facts.gpus}
    pairs = tuple(
        Evidence(f"cuda:{device.ordinal}", f"GPU {index[device.uuid]} of nvidia-smi", source="UUID")
        for device in facts.libcuda.devices
    )
    if "CUDA_VISIBLE_DEVICES" in facts.environment:
        yield note("CUDA_VISIBLE_DEVICES gives the GPUs other numbers in torch than in nvidia-smi", evidence=pairs)
    else:
        yield note(
            "torch numbers the GPUs by speed, nvidia-smi by their place on the bus: the numbers differ",
            evidence=pairs,
            remedy=Remedy("Make torch number them as nvidia-smi does", "export CUDA_DEVICE_ORDER=PCI_BUS_ID"),
        )
