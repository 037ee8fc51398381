"""Drivers that are unloaded from a GPU whenever no program uses it."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.derived.naming import gpu_list
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="persistence",
    group="gpu",
    title="The driver stays loaded between programs",
    why=(
        "Without a display or persistence mode the driver lets go of a GPU when its last program ends: the next one waits "
        "some seconds at its first CUDA call, and settings such as power limits are lost."
    ),
    sources=("https://docs.nvidia.com/deploy/driver-persistence/",),
)


def look(facts: Facts) -> Iterator[Result]:
    # A container has no say in it, Windows and WSL have no such mode, and a desktop's display keeps the GPU awake.
    if facts.system.os != "linux" or facts.system.wsl or facts.system.container:
        return
    off = [gpu for gpu in facts.gpus if gpu.persistence is False and gpu.brand == "tesla"]
    if off:
        yield note(
            f"Persistence mode is off for {gpu_list(off)}: the first CUDA call of each program is slow",
            evidence=tuple(
                Evidence(f"persistence mode of GPU {gpu.index}", "off", needed="on", source="NVML") for gpu in off
            ),
            remedy=Remedy(
                "Keep the driver loaded, now and after every start", "sudo systemctl enable --now nvidia-persistenced"
            ),
            link="https://docs.nvidia.com/deploy/driver-persistence/",
        )
    elif any(gpu.persistence for gpu in facts.gpus):
        yield ok("Persistence mode is on")
