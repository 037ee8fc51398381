"""A driver from after the card's support ended."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.nvidia_cards import known_cards
from torchlift.doctor.derived.nvidia_driver import driver_version
from torchlift.doctor.facts import Facts
from torchlift.wheels.drivers import branch, last_branch

_MATRIX = "https://docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html"

CHECK = Check(
    id="driver-too-new-for-gpu",
    group="driver",
    title="The driver still supports the card",
    why=(
        "Driver branch 580 is the last for Maxwell, Pascal and Volta, 470 for Kepler. With a newer one the card is on the "
        "PCI bus, but nvidia-smi says `No devices were found` and torch `No CUDA GPUs are available`."
    ),
    sources=(_MATRIX,),
)


def look(facts: Facts) -> Iterator[Result]:
    driver = driver_version(facts)
    told: set[str] = set()
    for card in known_cards(facts) if driver else ():
        last = last_branch(card.capability)
        if last is None or card.name in told:
            continue
        if card.listed:
            told.add(card.name)
            yield note(
                f"Driver branch {last} is the last for the {card.name}: do not upgrade beyond it",
                evidence=(Evidence("driver", driver or "", needed=f"{last} at most", source="the driver"),),
                confidence="table",
                link=_MATRIX,
            )
        elif card.passed_over and branch(driver) > last and facts.gpus:
            # An older driver for this card would be too old for the others.
            told.add(card.name)
            yield note(
                f"The driver {driver} does not drive the {card.name}, for which {last} is the last branch; the other cards "
                "work",
                evidence=(Evidence("driver", driver or "", needed=f"{last} at most", source="the driver"),),
                confidence="table",
                link=_MATRIX,
            )
        elif card.passed_over and branch(driver) > last:
            yield Result(
                breaks_torch(facts),
                f"The driver {driver} no longer supports the {card.name}: the last branch that does is {last}",
                evidence=(
                    Evidence("driver", driver or "", needed=f"{last} at most", source="the driver"),
                    Evidence(
                        f"card {card.address}",
                        f"{card.name}, not listed by the driver",
                        needed="listed",
                        source="PCI bus",
                    ),
                ),
                remedy=_remedy(facts, last),
                confidence="table",
                link=_MATRIX,
            )


def _remedy(facts: Facts, last: int) -> Remedy:
    if facts.system.distribution in ("ubuntu", "pop"):
        return Remedy(f"Go back to driver branch {last}, then restart", f"sudo ubuntu-drivers install nvidia:{last}")
    return Remedy(f"Go back to driver branch {last}, from https://www.nvidia.com/en-us/drivers/, then restart")
