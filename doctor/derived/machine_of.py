"""From facts to the little that choosing a wheel needs."""

from __future__ import annotations

import re

from torchlift.doctor.derived.nvidia_driver import cuda_of_driver, driver_version
from torchlift.doctor.derived.visible_gpus import visible_gpus
from torchlift.doctor.facts import Facts
from torchlift.wheels.machine import Device, Machine


def machine_of(facts: Facts) -> Machine:
    """The machine as the resolver sees it: the GPUs in view, the driver, the platform and the examined Python.

    GPUs of one vendor only: NVIDIA's if there are any, else AMD's, else Apple's, else Intel's.
    """
    system, python = facts.system, facts.python
    return Machine(
        devices=_devices(facts),
        driver=driver_version(facts),
        cuda_driver=cuda_of_driver(facts),
        os=system.os or "linux",
        windows_driver=bool(system.wsl),
        machine=system.machine or "x86_64",
        python=_two_numbers(python.version),
        free_threaded=bool(python.free_threaded),
        glibc=_two_numbers(system.libc_version) if system.libc == "glibc" else None,
        musl=system.libc == "musl",
        jetson=bool(system.jetson_release),
        macos=_two_numbers(system.macos_version),
    )


def _devices(facts: Facts) -> tuple[Device, ...]:
    nvidia = tuple(Device(gpu.name, gpu.capability) for gpu in visible_gpus(facts).gpus)
    if nvidia:
        return nvidia
    other = facts.other
    amd = tuple(
        Device(device.name or device.architecture, None, "amd", device.architecture) for device in other.rocm_devices
    )
    if amd:
        return amd
    if other.mps:
        return (Device("Apple GPU", None, "apple"),)
    if other.level_zero and any(card.vendor == "8086" for card in facts.pci or ()):
        return (Device("Intel GPU", None, "intel"),)
    return ()


def _two_numbers(text: str | None) -> tuple[int, int] | None:
    found = re.match(r"(\d{1,4})\.(\d{1,4})", text or "", re.ASCII)
    return (int(found[1]), int(found[2])) if found else None
