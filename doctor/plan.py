"""From the facts about a machine to the wheel it should have."""

from __future__ import annotations

import re

from torchlift.doctor.driver_state import cuda_of_driver, driver_version
from torchlift.doctor.facts import Facts, PciCard
from torchlift.wheels.answer import Answer
from torchlift.wheels.compatibility import capability
from torchlift.wheels.machine import Device, Machine

_COMPANIONS = ("torchvision", "torchaudio")
_GPU_CLASSES = ("0300", "0302", "1200")


def plan(facts: Facts, wanted: str | None = None) -> Answer:
    """The wheel for this machine, and for the torch that `wanted` ("torch==2.15") asks for."""
    from torchlift.wheels.resolver import resolve

    companions = tuple(name for name in _COMPANIONS if facts.package(name) is not None)
    return resolve(machine_of(facts), wanted, companions=companions)


def data_line() -> str:
    """How old the tables are and what they know."""
    from torchlift.versions import LATEST
    from torchlift.wheels.tables import data_date

    return f"Wheel data of {data_date()}, newest torch known {LATEST}."


def machine_of(facts: Facts) -> Machine:
    """What the choice of a wheel needs of the facts."""
    system = facts.system
    version = _pair(facts.python.version)
    return Machine(
        devices=tuple(_devices(facts)),
        driver=driver_version(facts),
        cuda_driver=cuda_of_driver(facts),
        os=system.os or "linux",
        machine=system.machine or facts.python.machine or "x86_64",
        python=version,
        free_threaded=bool(facts.python.free_threaded),
        glibc=_pair(system.libc_version) if system.libc == "glibc" else None,
        musl=system.libc == "musl",
        jetson=bool(system.jetson_release),
        macos=_pair(system.macos_version),
    )


def _devices(facts: Facts) -> list[Device]:
    # libcuda first: it answers after CUDA_VISIBLE_DEVICES, and what is hidden needs no code.
    if facts.libcuda.devices:
        return [
            Device(device.name or "NVIDIA GPU", capability(device.compute_capability))
            for device in facts.libcuda.devices
        ]
    if facts.gpus:
        return [Device(gpu.name or "NVIDIA GPU", capability(gpu.compute_capability)) for gpu in facts.gpus]
    cards = [_from_pci(card) for card in facts.pci or () if card.vendor == "10de" and card.pci_class in _GPU_CLASSES]
    if cards:
        return cards
    if facts.other.rocm_devices:
        return [
            Device(device.name or "AMD GPU", None, "amd", device.architecture) for device in facts.other.rocm_devices
        ]
    if facts.other.mps:
        return [Device("Apple GPU", None, "apple")]
    return []


def _from_pci(card: PciCard) -> Device:
    from torchlift.wheels.gpus import by_pci_device

    known = by_pci_device(card.device)
    if known is None:
        return Device(f"NVIDIA GPU (PCI device {card.device})", None)
    return Device(known.name, known.capability)


def _pair(version: str | None) -> tuple[int, int] | None:
    match = re.match(r"(\d{1,6})\.(\d{1,6})", version or "")
    return (int(match[1]), int(match[2])) if match else None
