"""An NVIDIA card without NVIDIA's driver."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, skipped, warning
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.driver_libraries import libraries, unloadable
from torchlift.doctor.derived.nvidia_cards import has_nvidia_gpu, known_cards, nvidia_cards
from torchlift.doctor.derived.nvidia_driver import driver_answers, driver_version
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import install_driver

_CONTAINER_TOOLKIT = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html"

CHECK = Check(
    id="driver-missing",
    group="driver",
    title="The NVIDIA driver is installed",
    why=(
        "CUDA's driver library, libcuda.so.1, comes with the driver and never with torch. Without it "
        "`torch.cuda.is_available()` is False, and `.cuda()` raises `RuntimeError: Found no NVIDIA driver on your "
        "system`. In a container the driver is the host's, given by `--gpus all`; under WSL it is Windows'."
    ),
    sources=(
        "torch 2.15.0, error text measured without a driver, 2026-11-21",
        _CONTAINER_TOOLKIT,
        "https://docs.nvidia.com/cuda/wsl-user-guide/",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if driver_answers(facts) and facts.libcuda.outcome == "ok":
        yield ok(f"The NVIDIA driver {driver_version(facts) or ''}".rstrip() + " is installed")
        return
    if facts.libcuda.outcome == "not-run" and not libraries(facts):
        if nvidia_cards(facts):
            yield skipped("whether libcuda.so.1 can be loaded was not tried")
        return
    if facts.libcuda.outcome != "missing" or unloadable(facts, "libcuda.so.1"):
        return
    aside = next((library for library in libraries(facts) if not library.stub and not library.compat), None)
    if aside is not None and aside.found_by == "directory" and facts.system.os == "linux":
        folder = str(PurePosixPath(aside.path).parent)
        yield Result(
            breaks_torch(facts),
            f"libcuda.so.1 lies in {folder}, but the loader does not look there",
            evidence=(
                Evidence("libcuda.so.1", aside.path, needed="in the output of ldconfig -p", source="the loader"),
            ),
            remedy=Remedy("Tell the loader", _tell_loader(folder)),
        )
        return
    if facts.system.wsl == 2:
        yield from _in_wsl(facts)
    elif facts.system.container:
        yield from _in_container(facts)
    else:
        yield from _on_a_machine(facts)


def _tell_loader(folder: str) -> str:
    return f"echo {shlex.quote(folder)} | sudo tee /etc/ld.so.conf.d/nvidia-driver.conf && sudo ldconfig"


def _in_wsl(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None:
        return
    yield warning(
        "WSL passes no NVIDIA driver through: there is no libcuda.so.1",
        evidence=(Evidence("libcuda.so.1", "not found", needed="/usr/lib/wsl/lib/libcuda.so.1", source="the loader"),),
        remedy=install_driver(facts),
        confidence="likely",
        link="https://docs.nvidia.com/cuda/wsl-user-guide/",
    )


def _in_container(facts: Facts) -> Iterator[Result]:
    if facts.nvml.outcome == "ok":
        given = facts.environment.get("NVIDIA_DRIVER_CAPABILITIES", "not set")
        yield Result(
            breaks_torch(facts),
            "This container was given NVIDIA's management library but not libcuda.so.1",
            evidence=(
                Evidence("libcuda.so.1", "not found", needed="mounted from the host", source="the loader"),
                Evidence("NVIDIA_DRIVER_CAPABILITIES", given, needed="compute,utility", source="environment"),
            ),
            remedy=Remedy("Start the container anew with `-e NVIDIA_DRIVER_CAPABILITIES=compute,utility`"),
            link=_CONTAINER_TOOLKIT,
        )
    elif has_nvidia_gpu(facts):
        yield Result(
            breaks_torch(facts),
            "The host has an NVIDIA card, but this container was started without access to it",
            evidence=(
                *_cards(facts),
                Evidence("libcuda.so.1", "not found", needed="mounted from the host", source="the loader"),
            ),
            remedy=_start_container(facts),
            link=_CONTAINER_TOOLKIT,
        )
    elif _wants_gpus(facts) and facts.pci is None and facts.torch is not None and facts.torch.cuda is not None:
        asked = facts.environment["NVIDIA_VISIBLE_DEVICES"]
        yield note(
            "This container was given no NVIDIA driver; whether its host has a card is not known from inside",
            evidence=(Evidence("NVIDIA_VISIBLE_DEVICES", asked, source="environment"),),
            remedy=_start_container(facts),
            confidence="likely",
        )


def _on_a_machine(facts: Facts) -> Iterator[Result]:
    cards = nvidia_cards(facts)
    if not has_nvidia_gpu(facts):
        return
    if cards and all(card.driver == "vfio-pci" for card in cards):
        yield note(
            "Every NVIDIA card is handed to virtual machines (vfio-pci), so this system itself has none",
            evidence=_cards(facts),
        )
        return
    where = "nvcuda.dll" if facts.system.os == "windows" else "libcuda.so.1"
    loaded = facts.kernel_driver.version
    if loaded:
        summary = f"The kernel module {loaded} is loaded, but the driver's libraries are not installed"
    else:
        summary = "There is an NVIDIA card, but NVIDIA's driver is not installed"
    yield Result(
        breaks_torch(facts),
        summary,
        evidence=(*_cards(facts), Evidence(where, "not found", needed="installed by the driver", source="the loader")),
        remedy=install_driver(facts),
        link="https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
    )


def _cards(facts: Facts) -> tuple[Evidence, ...]:
    names = {card.address: card.name for card in known_cards(facts)}
    return tuple(
        Evidence(
            f"card {card.address}",
            f"{names.get(card.address, 'NVIDIA ' + card.device)}, kernel driver: {card.driver or 'none'}",
            needed="kernel driver: nvidia",
            source="PCI bus",
        )
        for card in nvidia_cards(facts)
    )


def _wants_gpus(facts: Facts) -> bool:
    return facts.environment.get("NVIDIA_VISIBLE_DEVICES", "void") not in ("", "void", "none")


def _start_container(facts: Facts) -> Remedy:
    toolkit = "with NVIDIA Container Toolkit on the host"
    kind = facts.system.container
    if kind == "kubernetes":
        return Remedy("Ask for the GPU in the pod's specification: `resources: {limits: {nvidia.com/gpu: 1}}`")
    if kind == "podman":
        return Remedy(f"Start it anew, {toolkit}", "podman run --device nvidia.com/gpu=all IMAGE")
    if kind == "singularity":
        return Remedy("Start it anew with --nv", "singularity exec --nv IMAGE COMMAND")
    if kind == "docker":
        return Remedy(f"Start it anew, {toolkit}", "docker run --gpus all IMAGE")
    return Remedy(f"Start this container anew so that it gets the host's NVIDIA devices and driver, {toolkit}")
