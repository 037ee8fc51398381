"""A driver from before the card."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result
from torchlift.doctor.derived.driver_state import breaks_torch, driver_version
from torchlift.doctor.derived.known_cards import KnownCard, known_cards
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import install_driver
from torchlift.wheels.drivers import branch, first_branch

_MATRIX = "https://docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html"


def look(facts: Facts) -> Iterator[Result]:
    driver = driver_version(facts)
    newer = cards_newer_than_driver(facts)
    for card, first in newer:
        yield Result(
            breaks_torch(facts),
            f"The driver {driver} is older than the {card.name}, which needs driver {first} or newer",
            (
                Evidence("driver", driver or "", f"{first} or newer", "the driver"),
                Evidence(f"card {card.address}", f"{card.name}, not listed by the driver", "listed", "PCI bus"),
            ),
            install_driver(facts, str(first)),
            confidence="table",
            link=_MATRIX,
        )
    if not newer and any(card.listed for card in known_cards(facts)):
        yield Result("ok", f"The driver {driver or ''}".rstrip() + " knows the cards")


def cards_newer_than_driver(facts: Facts) -> list[tuple[KnownCard, int]]:
    """Cards that the driver passes over because it is older, with the first branch that knows them."""
    have = branch(driver_version(facts))
    return [
        (card, first)
        for card in known_cards(facts)
        if card.passed_over and (first := first_branch(card.capability)) is not None and 0 < have < first
    ]


CHECK = Check(
    id="driver-too-old-for-gpu",
    group="driver",
    title="The driver knows the card",
    why=(
        "A driver drives no GPU that came after it: Blackwell cards need driver 570, Hopper and Ada 520. The card is on "
        "the PCI bus, but nvidia-smi says `No devices were found` and torch `No CUDA GPUs are available`."
    ),
    look=look,
    sources=(_MATRIX, 'CUDA Toolkit release notes, table "CUDA Toolkit and Corresponding Driver Versions"'),
)
