"""NVLinks that are down."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, warning
from torchlift.doctor.derived.naming import gpu_list
from torchlift.doctor.facts import Facts, Gpu

CHECK = Check(
    id="nvlink",
    group="multi-gpu",
    title="Every NVLink is up",
    why=(
        "An NVLink that is down (a bridge not seated, a link error, Xid 74) makes traffic between GPUs slower, or go over "
        "PCIe, and in an NVSwitch machine NCCL may fail. There is no error in torch for it. Cards without a bridge, and GPUs "
        "in MIG mode, have no links up, and that is well."
    ),
    sources=("https://docs.nvidia.com/deploy/xid-errors/", "nvmlDeviceGetNvLinkState, NVML API reference"),
)


_SOLDERED = re.compile(r"SXM|HBM3|\b(H20|H200|H800|B[123]00|GB[23]00|GH200)\b")
_BRIDGED = re.compile(r"PCIe|\bNVL\b")


def look(facts: Facts) -> Iterator[Result]:
    # In MIG mode a GPU has no NVLink, by design.
    whole = [gpu for gpu in facts.gpus if not gpu.mig_enabled]
    most: dict[str | None, int] = {}
    for gpu in whole:
        most[gpu.name] = max(most.get(gpu.name, 0), gpu.nvlinks_active or 0)
    weak = [gpu for gpu in whole if _links_are_down(gpu, most[gpu.name])]
    some = [gpu for gpu in whole if gpu not in weak and 0 < (gpu.nvlinks_active or 0) < most[gpu.name]]
    if weak:
        yield warning(
            f"NVLinks are down on {gpu_list(weak)}",
            evidence=tuple(_links(gpu, most[gpu.name]) for gpu in weak),
            remedy=Remedy("See the state and the errors of each link", "nvidia-smi nvlink --status"),
        )
    elif some:
        yield note(
            f"{gpu_list(some)} {'has' if len(some) == 1 else 'have'} fewer NVLinks up than others of the kind: a bridge is "
            "missing, or not seated",
            evidence=tuple(_links(gpu, most[gpu.name]) for gpu in some),
            remedy=Remedy("See the state and the errors of each link", "nvidia-smi nvlink --status"),
        )
    elif any(most.values()):
        yield ok("Every NVLink that is connected is up")


def _links(gpu: Gpu, most: int) -> Evidence:
    up, down = gpu.nvlinks_active or 0, gpu.nvlinks_inactive or 0
    return Evidence(
        f"NVLinks of GPU {gpu.index}", f"{up} up, {down} down", needed=f"{max(most, up + down)} up", source="NVML"
    )


def _links_are_down(gpu: Gpu, most: int) -> bool:
    if gpu.nvlinks_active is None:
        return False
    if gpu.fabric_state == "completed" and (gpu.nvlinks_inactive or 0) > 0:
        return True
    # Only on a board are all GPUs connected alike; between cards there are bridges, or none.
    name = gpu.name or ""
    return bool(_SOLDERED.search(name)) and not _BRIDGED.search(name) and gpu.nvlinks_active < most
