"""Cards on the bus that the driver does not list."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.card_support import (
    cards_newer_than_driver,
    cards_of_the_other_flavour,
    cards_older_than_driver,
)
from torchlift.doctor.derived.nvidia_cards import lists_every_card, nvidia_cards
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="gpu-missing",
    group="gpu",
    title="The driver lists every NVIDIA card on the bus",
    why=(
        "A card whose start fails in the driver (`RmInitAdapter failed!` in the kernel log) is on the PCI bus, but "
        "nvidia-smi and torch count one GPU fewer, or say `No devices were found`."
    ),
    sources=(
        "https://docs.nvidia.com/deploy/xid-errors/",
        "https://github.com/NVIDIA/open-gpu-kernel-modules/issues/872",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.nvml.outcome != "ok" or not lists_every_card(facts):
        return
    listed = {gpu.pci_address for gpu in facts.gpus}
    cards = [card for card in nvidia_cards(facts) if card.driver == "nvidia"]
    missing = [card for card in cards if card.address not in listed]
    if missing:
        addresses = ", ".join(card.address for card in missing)
        yield Result(
            "warning" if facts.gpus else breaks_torch(facts),
            f"The driver lists {len(facts.gpus)} of {len(cards)} NVIDIA cards: not {addresses}",
            evidence=tuple(
                Evidence(f"card {card.address}", "bound to nvidia, not listed", needed="listed", source="PCI bus")
                for card in missing
            ),
            remedy=Remedy(
                "See in the kernel log why the driver could not start this card", "sudo dmesg | grep -E 'NVRM|Xid'"
            ),
            cause=_cause(facts),
        )
    elif cards:
        yield ok("The driver lists every NVIDIA card on the bus")


def _cause(facts: Facts) -> str | None:
    if cards_newer_than_driver(facts):
        return "driver-too-old-for-gpu"
    if cards_older_than_driver(facts):
        return "driver-too-new-for-gpu"
    return "kernel-module-flavour" if cards_of_the_other_flavour(facts) else None
