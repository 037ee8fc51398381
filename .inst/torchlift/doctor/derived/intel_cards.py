"""Intel's cards that PyTorch's XPU builds are for."""

from __future__ import annotations

from torchlift.doctor.facts import Facts
from torchlift.wheels.intel_gpus import IntelGpu, IntelKind, intel_gpu

INTEL = "8086"
UNNAMED = "0000"
"""PCI device of a card that is described without a model."""


def intel_cards(facts: Facts) -> list[IntelGpu]:
    """The cards on the bus, older graphics left out: nearly every Intel processor has such."""
    cards = [card for card in facts.pci or () if card.vendor == INTEL and card.pci_class.startswith(("03", "12"))]
    known = [gpu for card in cards if (gpu := intel_gpu(card.device))]
    if known:
        return known
    # A card newer than the table is taken at the word of the torch that was installed for it.
    used = facts.torch is not None and facts.torch.xpu and facts.other.level_zero
    kind: IntelKind = "discrete" if facts.hypothetical else "integrated"
    meant = [card for card in cards if used or (facts.hypothetical and card.device == UNNAMED)]
    return [IntelGpu(card.device, kind, "Intel GPU") for card in meant]


def cards_for_computing(facts: Facts) -> list[IntelGpu]:
    """Those that are surely meant for more than a screen: cards of a data centre, and cards of their own where Intel's
    compute driver is installed."""
    return [
        card
        for card in intel_cards(facts)
        if card.kind == "data-centre" or (card.kind == "discrete" and facts.other.level_zero)
    ]
