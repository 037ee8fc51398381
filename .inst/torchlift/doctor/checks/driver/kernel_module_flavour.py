"""Open or proprietary kernel module, where only one of them drives the card."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.card_support import (
    KERNEL_MODULES,
    cards_of_the_other_flavour,
    loaded_flavour,
)
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import other_kernel_module

CHECK = Check(
    id="kernel-module-flavour",
    group="driver",
    title="The loaded kernel module is the kind that drives the card",
    why=(
        "The driver has two kernel modules. The open one drives Turing and later, the proprietary one is needed for "
        "Maxwell to Volta, and Blackwell works with the open one only. With the wrong one nvidia-smi says `No devices "
        "were found`; the kernel log says why."
    ),
    sources=(
        KERNEL_MODULES,
        "https://download.nvidia.com/XFree86/Linux-x86_64/580.159.03/README/kernel_open.html",
        "https://github.com/NVIDIA/open-gpu-kernel-modules/issues/872",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.kernel_driver.open_module is None:
        return
    loaded = loaded_flavour(facts)
    wrong = cards_of_the_other_flavour(facts)
    for card, needed in wrong:
        yield Result(
            "warning" if facts.gpus else breaks_torch(facts),
            f"The {needed} kernel module is needed for the {card.name}, but the {loaded} one is loaded",
            evidence=(
                Evidence("kernel module", loaded, needed=needed, source="/proc/driver/nvidia/version"),
                Evidence(
                    f"card {card.address}", f"{card.name}, not listed by the driver", needed="listed", source="PCI bus"
                ),
            ),
            remedy=other_kernel_module(facts, needed),
            confidence="table",
            link=KERNEL_MODULES,
        )
    if not wrong and facts.gpus:
        yield ok(f"The {loaded} kernel module drives these cards")
