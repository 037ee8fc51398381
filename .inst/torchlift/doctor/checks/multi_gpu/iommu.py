"""An IOMMU that translates the GPUs' peer-to-peer traffic."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="iommu",
    group="multi-gpu",
    title="The IOMMU is not in the way of peer-to-peer copies",
    why=(
        "With the IOMMU or PCIe access control (ACS) on, peer-to-peer traffic between GPUs is sent through the CPU's root "
        "complex: NCCL hangs at the first collective, or copies are corrupt. ACS can be seen with `sudo lspci -vvv | grep "
        "ACSCtl` only."
    ),
    sources=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
        "https://github.com/NVIDIA/nccl/issues/2079",
    ),
)

_ON = ("intel_iommu=on", "amd_iommu=on", "iommu=force", "iommu=on", "iommu.passthrough=0")
_HARMLESS = ("iommu=pt", "iommu.passthrough=1", "iommu=off", "intel_iommu=off", "amd_iommu=off")


def look(facts: Facts) -> Iterator[Result]:
    # NVLink does not pass the IOMMU, and in a virtual machine the host's settings count.
    if len(facts.gpus) < 2 or all((gpu.nvlinks_active or 0) > 0 for gpu in facts.gpus):
        return
    if any(gpu.virtualization not in (None, "none") for gpu in facts.gpus):
        return
    words = facts.system.iommu_parameters
    if any(word in _ON for word in words) and not any(word in _HARMLESS for word in words):
        yield warning(
            "The IOMMU translates all traffic, which can make peer-to-peer copies between the GPUs hang or go wrong",
            evidence=(Evidence("kernel parameters", " ".join(words), needed="iommu=pt", source="/proc/cmdline"),),
            remedy=_remedy(facts),
            confidence="likely",
            link="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
        )
    else:
        yield ok("No kernel parameter puts the IOMMU between the GPUs")


def _remedy(facts: Facts) -> Remedy:
    if facts.system.container:
        return Remedy("On the host: add iommu=pt to the kernel's parameters, then restart")
    if facts.system.distribution in ("rhel", "rocky", "almalinux", "centos", "fedora", "ol"):
        return Remedy("Let devices pass, then restart", "sudo grubby --update-kernel=ALL --args=iommu=pt")
    if facts.system.distribution in ("ubuntu", "debian", "pop"):
        command = "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&iommu=pt /' /etc/default/grub && sudo update-grub"
        return Remedy("Let devices pass, then restart", command)
    return Remedy("Add iommu=pt to the kernel's parameters, then restart")
