"""Which drivers and which of the two kernel modules drive a card."""

from __future__ import annotations

from torchlift.doctor.derived.nvidia_cards import KnownCard, known_cards
from torchlift.doctor.derived.nvidia_driver import driver_version
from torchlift.doctor.facts import Facts
from torchlift.wheels.drivers import branch, first_branch, last_branch

KERNEL_MODULES = "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/610/kernel-modules.html"


def kernel_module_flavour(capability: tuple[int, int]) -> str | None:
    """ "open" or "proprietary" where only that kernel module drives the GPU, None where both do.

    Sources: NVIDIA Driver Installation Guide 610, "Kernel Modules" (the open ones from Turing on); README of driver
    580.159.03, kernel_open.html (Blackwell and later only with the open ones). Read 2026-11-21.
    """
    if capability < (7, 5):
        return "proprietary"
    return "open" if capability >= (10, 0) else None


def needs_proprietary_module(facts: Facts) -> bool:
    """A card is older than Turing: the open kernel modules do not drive it."""
    return any(kernel_module_flavour(card.capability) == "proprietary" for card in known_cards(facts))


def cards_newer_than_driver(facts: Facts) -> list[tuple[KnownCard, int]]:
    """Cards that the driver passes over because it is older, with the first branch that knows them."""
    have = branch(driver_version(facts))
    return [
        (card, first)
        for card in known_cards(facts)
        if card.passed_over and (first := first_branch(card.capability)) is not None and 0 < have < first
    ]


def cards_older_than_driver(facts: Facts) -> bool:
    """The driver passes over a card because its support has ended."""
    have = branch(driver_version(facts))
    lasts = [last_branch(card.capability) for card in known_cards(facts) if card.passed_over]
    return any(last is not None and have > last for last in lasts)


def loaded_flavour(facts: Facts) -> str:
    """ "open" or "proprietary": the kernel module that is loaded."""
    return "open" if facts.kernel_driver.open_module else "proprietary"


def flavour_that_all_cards_need(facts: Facts) -> tuple[KnownCard, str] | None:
    """A card and the one kernel module that drives it, where that holds for every NVIDIA card and the driver comes with
    both modules (since branch 515)."""
    cards = known_cards(facts)
    needed = {kernel_module_flavour(card.capability) for card in cards}
    only = needed.pop() if len(needed) == 1 else None
    return (cards[0], only) if only is not None and branch(driver_version(facts)) >= 515 else None


def cards_of_the_other_flavour(facts: Facts) -> list[tuple[KnownCard, str]]:
    """Cards that the loaded kernel module passes over because they need the other kind, with that kind."""
    if facts.kernel_driver.open_module is None:
        return []
    return [
        (card, needed)
        for card in known_cards(facts)
        if card.passed_over
        and (needed := kernel_module_flavour(card.capability))
        and needed != loaded_flavour(facts)
        # With a driver that has dropped the card, neither module drives it.
        and branch(driver_version(facts)) <= (last_branch(card.capability) or 10_000)
    ]
