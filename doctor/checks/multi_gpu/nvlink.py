"""NVLinks that are down."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.derived.naming import gpu_list
from torchlift.doctor.facts import Facts, Gpu

CHECK = Check(
    id="nvlink",
    group="multi-gpu",
    title="Every NVLink is up",
    why=(
        "An NVLink that is down (a bridge not seated, a link error, Xid 74) makes traffic between GPUs slower, or go over "
        "PCIe, and in an NVSwitch machine NCCL may fail. There is no error in torch for it."
    ),
    sources=("https://docs.nvidia.com/deploy/xid-errors/", "nvmlDeviceGetNvLinkState, NVML API reference"),
)


def look(facts: Facts) -> Iterator[Result]:
    most: dict[str | None, int] = {}
    for gpu in facts.gpus:
        most[gpu.name] = max(most.get(gpu.name, 0), gpu.nvlinks_active or 0)
    weak = [gpu for gpu in facts.gpus if _links_are_down(gpu, most[gpu.name])]
    if weak:
        yield warning(
            f"NVLinks are down on {gpu_list(weak)}",
            evidence=tuple(
                Evidence(
                    f"NVLinks of GPU {gpu.index}",
                    f"{gpu.nvlinks_active} up, {gpu.nvlinks_inactive or 0} down",
                    needed=f"{max(most[gpu.name], (gpu.nvlinks_active or 0) + (gpu.nvlinks_inactive or 0))} up",
                    source="NVML",
                )
                for gpu in weak
            ),
            remedy=Remedy("See the state and the errors of each link", "nvidia-smi nvlink --status"),
        )
    elif any(most.values()):
        yield ok("Every NVLink is up")


def _links_are_down(gpu: Gpu, most: int) -> bool:
    # Cards without a bridge have all links down, and that is well.
    if gpu.nvlinks_active is None:
        return False
    in_fabric = gpu.fabric_state == "completed" and (gpu.nvlinks_inactive or 0) > 0
    return gpu.nvlinks_active < most or in_fabric
