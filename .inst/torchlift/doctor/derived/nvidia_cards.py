"""NVIDIA's cards in a machine, and which compute capability they have, also where no driver answers."""

from __future__ import annotations

import re

from torchlift.doctor.derived.nvidia_driver import driver_answers
from torchlift.doctor.facts import Facts, PciCard
from torchlift.lazy_dataclass import dataclass
from torchlift.wheels.compatibility import capability
from torchlift.wheels.gpus import by_pci_device

NVIDIA = "10de"
_GPU_CLASSES = ("03", "12")

_JOBS = ("SLURM_PROCID", "SLURM_JOB_ID", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "PBS_JOBID", "LSB_JOBID")
"""Variables that Slurm, PBS and LSF set in a job."""

_NO_DEVICE = (9,)
"""NVML codes that mean the driver took none of the cards: DriverNotLoaded."""


def nvidia_cards(facts: Facts) -> list[PciCard]:
    """NVIDIA GPUs on the PCI bus, found without any driver: display controllers and processing accelerators."""
    return [card for card in facts.pci or () if card.vendor == NVIDIA and card.pci_class.startswith(_GPU_CLASSES)]


def has_nvidia_gpu(facts: Facts) -> bool:
    """There is an NVIDIA GPU, by the PCI bus, the driver or its device nodes."""
    nodes = any(re.fullmatch(r"/dev/nvidia\d+", node.path) for node in facts.kernel_driver.device_nodes)
    return bool(nvidia_cards(facts)) or driver_answers(facts) or nodes


@dataclass(frozen=True)
class KnownCard:
    """An NVIDIA card: its place on the bus, its name and its compute capability.

    `listed` means that NVML lists it, `passed_over` that a driver which answers certainly does not; both are False
    where that is not known.
    """

    address: str
    name: str
    capability: tuple[int, int]
    listed: bool
    passed_over: bool


def known_cards(facts: Facts) -> list[KnownCard]:
    """The NVIDIA cards of which NVML or the table of PCI devices knows the compute capability."""
    by_address = {gpu.pci_address: gpu for gpu in facts.gpus if gpu.pci_address}
    complete = lists_every_card(facts)
    found = []
    for card in nvidia_cards(facts):
        gpu, in_table = by_address.get(card.address), by_pci_device(card.device)
        own = capability(gpu.compute_capability) if gpu else None
        known = own or (in_table.capability if in_table else None)
        if known is not None:
            name = (gpu and gpu.name) or (in_table and in_table.name) or f"NVIDIA card {card.device}"
            passed_over = complete and gpu is None and card.driver != "vfio-pci"
            found.append(KnownCard(card.address, name, known, gpu is not None, passed_over))
    return found


def lists_every_card(facts: Facts) -> bool:
    """Whether a card that NVML does not list is certainly one that the driver does not drive."""
    # A container sees all cards on the bus, but only those it was given through NVML.
    if facts.system.container or any(gpu.pci_address is None for gpu in facts.gpus):
        return False
    # So does a job of a scheduler that hides the other GPUs by control groups.
    if any(name in facts.environment for name in _JOBS):
        return False
    return facts.nvml.outcome == "ok" or (facts.nvml.outcome == "error" and facts.nvml.code in _NO_DEVICE)
