"""A driver from before the card."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.card_support import cards_newer_than_driver
from torchlift.doctor.derived.nvidia_cards import known_cards
from torchlift.doctor.derived.nvidia_driver import driver_version
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import install_driver

_MATRIX = "https://docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html"

CHECK = Check(
    id="driver-too-old-for-gpu",
    group="driver",
    title="The driver knows the card",
    why=(
        "A driver drives no GPU that came after it: Blackwell cards need driver 570, Hopper and Ada 520. The card is on "
        "the PCI bus, but nvidia-smi says `No devices were found` and torch `No CUDA GPUs are available`."
    ),
    sources=(_MATRIX, 'CUDA Toolkit release notes, table "CUDA Toolkit and Corresponding Driver Versions"'),
)


def look(facts: Facts) -> Iterator[Result]:
    driver = driver_version(facts)
    newer = cards_newer_than_driver(facts)
    for card, first in newer:
        yield Result(
            breaks_torch(facts),
            f"The driver {driver} is older than the {card.name}, which needs driver {first} or newer",
            evidence=(
                Evidence("driver", driver or "", needed=f"{first} or newer", source="the driver"),
                Evidence(
                    f"card {card.address}", f"{card.name}, not listed by the driver", needed="listed", source="PCI bus"
                ),
            ),
            remedy=install_driver(facts, str(first)),
            confidence="table",
            link=_MATRIX,
        )
    if not newer and any(card.listed for card in known_cards(facts)):
        yield ok(f"The driver {driver or ''}".rstrip() + " knows the cards")
