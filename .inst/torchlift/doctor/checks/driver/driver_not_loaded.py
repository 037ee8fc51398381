"""Driver installed, kernel module not loaded."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Confidence, Evidence, Remedy, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.card_support import (
    cards_newer_than_driver,
    cards_of_the_other_flavour,
    cards_older_than_driver,
    flavour_that_all_cards_need,
)
from torchlift.doctor.derived.kernel_module import module_not_loaded
from torchlift.doctor.derived.nvidia_cards import nvidia_cards
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import other_kernel_module

CHECK = Check(
    id="driver-not-loaded",
    group="driver",
    title="The NVIDIA kernel module is loaded",
    why=(
        "The driver's libraries can do nothing without its kernel module. It is missing when nouveau holds the card, "
        "when Secure Boot refuses its signature, when it was not rebuilt after a kernel upgrade, or when the card needs the "
        "other one of the two modules there are (Volta and older the proprietary, Blackwell the open). NVML then says "
        "`Driver Not Loaded`, nvidia-smi `couldn't communicate with the NVIDIA driver`, torch `No CUDA GPUs are "
        "available`."
    ),
    sources=(
        "NVML return code 9, nvidia-ml-py 13.615.71, 2026-11-21",
        "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
        "https://wiki.ubuntu.com/UEFI/SecureBoot",
    ),
)

_BLACKLIST = (
    "printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf"
)


def look(facts: Facts) -> Iterator[Result]:
    if not module_not_loaded(facts):
        if facts.kernel_driver.version:
            yield ok(f"The kernel module {facts.kernel_driver.version} is loaded")
        return
    reason, remedy, confidence = _reason(facts)
    cards = nvidia_cards(facts)
    bound = ", ".join(sorted({card.driver or "none" for card in cards})) or "no card seen"
    yield Result(
        breaks_torch(facts),
        f"The NVIDIA driver is installed, but its kernel module is not loaded: {reason}",
        evidence=(
            Evidence("NVML", _nvml(facts), needed="an answer", source="nvmlInit"),
            Evidence("kernel driver of the cards", bound, needed="nvidia", source="PCI bus"),
            Evidence(
                "loaded modules",
                ", ".join(facts.kernel_driver.modules) or "none",
                needed="nvidia",
                source="/proc/modules",
            ),
        ),
        remedy=remedy,
        confidence=confidence,
        cause=_cause(facts),
    )


def _cause(facts: Facts) -> str | None:
    # The module goes away again when it knows none of the cards.
    if cards_newer_than_driver(facts):
        return "driver-too-old-for-gpu"
    if cards_older_than_driver(facts):
        return "driver-too-new-for-gpu"
    return "kernel-module-flavour" if cards_of_the_other_flavour(facts) else None


def _nvml(facts: Facts) -> str:
    named = facts.nvml.name or facts.nvml.outcome
    return f"{named} ({facts.nvml.code})" if facts.nvml.code is not None else named


def _reason(facts: Facts) -> tuple[str, Remedy, Confidence]:
    drivers = {card.driver for card in nvidia_cards(facts)}
    if facts.system.container:
        return (
            "not on the host of this container",
            Remedy("On the host: load it, then start the container anew"),
            "measured",
        )
    if "nouveau" in drivers or "nouveau" in facts.kernel_driver.modules:
        rebuild = "sudo update-initramfs -u" if _debian(facts) else "sudo dracut --force"
        text = "Keep nouveau away from the card, then restart"
        return "nouveau holds the card", Remedy(text, f"{_BLACKLIST} && {rebuild}"), "measured"
    if "vfio-pci" in drivers:
        text = "Give the card back to the host: take its id out of the vfio-pci options, then restart"
        return "the card is handed to virtual machines (vfio-pci)", Remedy(text), "measured"
    if facts.system.secure_boot:
        reason = "Secure Boot is on and refuses modules whose key it does not know"
        if _debian(facts):
            key = "/var/lib/shim-signed/mok/MOK.der"
            if facts.system.distribution == "debian":
                key = "/var/lib/dkms/mok.pub"
            remedy = Remedy("Enrol the key that signed it, then restart and confirm", f"sudo mokutil --import {key}")
        else:
            remedy = Remedy("Enrol the key that signed the module with mokutil, or switch Secure Boot off")
        return reason, remedy, "likely"
    only = flavour_that_all_cards_need(facts)
    if only is not None:
        card, needed = only
        other = "open" if needed == "proprietary" else "proprietary"
        reason = f"most likely the {other} one is installed, which refuses the {card.name} (`modprobe: No such device`)"
        return reason, other_kernel_module(facts, needed), "likely"
    return "nothing has loaded it", Remedy("Load it", "sudo modprobe nvidia"), "likely"


def _debian(facts: Facts) -> bool:
    return facts.system.distribution in ("ubuntu", "debian", "pop", "linuxmint")
