"""NVIDIA's cards in a machine, also where no driver answers."""

from __future__ import annotations

import re

from torchlift.doctor.derived.nvidia_driver import driver_answers
from torchlift.doctor.facts import Facts, PciCard

NVIDIA = "10de"


_GPU_CLASSES = ("03", "12")


def nvidia_cards(facts: Facts) -> list[PciCard]:
    """NVIDIA GPUs on the PCI bus, found without any driver: display controllers and processing accelerators."""
    return [card for card in facts.pci or () if card.vendor == NVIDIA and card.pci_class.startswith(_GPU_CLASSES)]


def has_nvidia_gpu(facts: Facts) -> bool:
    """There is an NVIDIA GPU, by the PCI bus, the driver or its device nodes."""
    nodes = any(re.fullmatch(r"/dev/nvidia\d+", node.path) for node in facts.kernel_driver.device_nodes)
    return bool(nvidia_cards(facts)) or driver_answers(facts) or nodes
