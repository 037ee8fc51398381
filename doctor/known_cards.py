"""Which compute capability the cards of a machine have, also where no driver answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from torchlift.doctor.driver_state import nvidia_cards
from torchlift.doctor.facts import Facts
from torchlift.wheels.compatibility import capability
from torchlift.wheels.tables import text

KERNEL_MODULES = "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/610/kernel-modules.html"


@dataclass(frozen=True)
class KnownCard:
    """An NVIDIA card: its place on the bus, its name, its compute capability and whether NVML lists it."""

    address: str
    name: str
    capability: tuple[int, int]
    listed: bool


def known_cards(facts: Facts) -> list[KnownCard]:
    """The NVIDIA cards of which NVML or the table of PCI devices knows the compute capability."""
    by_address = {gpu.pci_address: gpu for gpu in facts.gpus if gpu.pci_address}
    found = []
    for card in nvidia_cards(facts):
        gpu = by_address.get(card.address)
        own = capability(gpu.compute_capability) if gpu else None
        in_table = _table().get(card.device.lower())
        name = (gpu and gpu.name) or (in_table and in_table[0]) or f"NVIDIA card {card.device}"
        known = own or (in_table[1] if in_table else None)
        if known is not None:
            found.append(KnownCard(card.address, name, known, gpu is not None))
    return found


def needs_proprietary_module(facts: Facts) -> bool:
    """A card is older than Turing: the open kernel modules do not drive it."""
    return any(kernel_module_flavour(card.capability) == "proprietary" for card in known_cards(facts))


def kernel_module_flavour(capability: tuple[int, int]) -> str | None:
    """"open" or "proprietary" where only that kernel module drives the GPU, None where both do.

    Sources: NVIDIA Driver Installation Guide 610, "Kernel Modules" (the open ones from Turing on); README of driver
    580.159.03, kernel_open.html (Blackwell and later only with the open ones). Read 2026-11-21.
    """
    if capability < (7, 5):
        return "proprietary"
    return "open" if capability >= (10, 0) else None


@cache
def _table() -> dict[str, tuple[str, tuple[int, int]]]:
    rows = (line.split("\t") for line in text("gpus.tsv").splitlines() if line and not line.startswith("#"))
    known = {}
    for row in rows:
        found = capability(row[2]) if len(row) >= 5 else None
        if found is not None:
            known[row[0].lower()] = (row[4], found)
    return known
