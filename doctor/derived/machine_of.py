"""From facts to the little that choosing a wheel needs."""

from __future__ import annotations

import re
from dataclasses import replace

from torchlift.doctor.derived.driver_libraries import loaded_libcuda
from torchlift.doctor.derived.intel_cards import cards_for_computing, intel_cards
from torchlift.doctor.derived.nvidia_driver import cuda_of_driver, driver_version
from torchlift.doctor.derived.visible_gpus import hidden_by_environment, visible_gpus
from torchlift.doctor.facts import Facts
from torchlift.wheels.amd_gpus import is_integrated
from torchlift.wheels.machine import Device, Machine


def machine_of(facts: Facts) -> Machine:
    """The machine as the resolver sees it: the GPUs in view, the driver, the platform and the examined Python.

    GPUs of one vendor only: NVIDIA's if there are any, else Apple's, else AMD's or Intel's, cards before what is part of
    a processor.
    """
    system, python = facts.system, facts.python
    return Machine(
        devices=_devices(facts),
        driver=_driver(facts),
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


def _driver(facts: Facts) -> str | None:
    """The driver's version; that of a compatibility package which cuInit accepts, since torch asks that one."""
    library = loaded_libcuda(facts)
    accepted = library is not None and library.compat and facts.libcuda.outcome == "ok"
    return library.version if accepted and library and library.version else driver_version(facts)


def _devices(facts: Facts) -> tuple[Device, ...]:
    nvidia = tuple(Device(gpu.name, gpu.capability) for gpu in visible_gpus(_unhidden(facts)).gpus)
    if nvidia:
        return nvidia
    other = facts.other
    amd = [Device(one.name or one.architecture, None, "amd", one.architecture) for one in other.rocm_devices]
    if other.mps:
        return (Device("Apple GPU", None, "apple"),)
    own = [device for device in amd if not is_integrated(device.architecture or "")]
    intel = cards_for_computing(facts)
    if not intel and other.level_zero:
        intel = intel_cards(facts)
    # A card of its own comes before the graphics of a processor, whoever made them.
    if own or (amd and not any(card.kind != "integrated" for card in intel)):
        return tuple(own or amd)
    return tuple(Device(card.name, None, "intel") for card in intel)


def _unhidden(facts: Facts) -> Facts:
    """GPUs that a variable hides are there all the same: no other torch is right because of it."""
    if not hidden_by_environment(facts):
        return facts
    kept = {name: value for name, value in facts.environment.items() if name != "CUDA_VISIBLE_DEVICES"}
    return replace(facts, environment=kept)


def _two_numbers(text: str | None) -> tuple[int, int] | None:
    found = re.match(r"(\d{1,4})\.(\d{1,4})", text or "", re.ASCII)
    return (int(found[1]), int(found[2])) if found else None
