"""A GPU that no longer answers."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, problem
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="gpu-lost",
    group="gpu",
    title="Every GPU answers",
    why=(
        "A GPU that lost its PCIe link or crashed is gone until the machine is switched off: nvidia-smi says `GPU is lost. "
        "Reboot the system to recover this GPU` or `Unable to determine the device handle`, the kernel log Xid 79 `GPU has "
        "fallen off the bus`, and CUDA calls on any GPU may hang."
    ),
    sources=(
        "NVML return code 15, reproduced with nvidia-ml-py 13.615.71, 2026-11-21",
        "https://docs.nvidia.com/deploy/xid-errors/",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    lost = [gpu for gpu in facts.gpus if gpu.lost]
    for gpu in lost:
        place = f" at {gpu.pci_address}" if gpu.pci_address else ""
        yield problem(
            f"{gpu_label(gpu)}{place} is lost: it fell off the bus",
            evidence=(Evidence(f"GPU {gpu.index}", "GPU is lost (15)", needed="an answer", source="NVML"),),
            remedy=_remedy(facts),
        )
    if facts.gpus and not lost:
        yield ok("Every GPU answers")


def _remedy(facts: Facts) -> Remedy:
    text = "Switch the machine off and on again; if it comes back, check power, seating and cooling of the card"
    if facts.system.container:
        return Remedy(f"On the host: {text[0].lower()}{text[1:]}")
    return Remedy(text, "sudo poweroff" if facts.system.os == "linux" and not facts.system.wsl else None)
