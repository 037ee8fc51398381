"""Firmware of the GPU's system processor, which comes with the driver."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note, ok
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.derived.nvidia_driver import driver_version
from torchlift.doctor.facts import Facts
from torchlift.wheels.drivers import parts

CHECK = Check(
    id="gsp-firmware",
    group="gpu",
    title="GSP firmware and driver have one version",
    why=(
        "Turing and later GPUs run part of the driver on a processor of their own. Its firmware is loaded from "
        "/lib/firmware/nvidia with the driver; another version there is left over from a broken upgrade, and the kernel "
        "log then has GSP errors (Xid 119, 120)."
    ),
    sources=("README of the NVIDIA Linux driver, GSP firmware", "https://docs.nvidia.com/deploy/xid-errors/"),
)


def look(facts: Facts) -> Iterator[Result]:
    driver = driver_version(facts)
    agree = False
    for gpu in facts.gpus:
        if not driver or not parts(gpu.gsp_firmware):
            continue
        if parts(gpu.gsp_firmware) == parts(driver):
            agree = True
            continue
        yield note(
            f"{gpu_label(gpu)} runs GSP firmware {gpu.gsp_firmware}, the driver is {driver}",
            evidence=(
                Evidence(f"GSP firmware of GPU {gpu.index}", gpu.gsp_firmware or "", needed=driver, source="NVML"),
            ),
            confidence="likely",
        )
    if agree:
        yield ok("GSP firmware and driver have one version")
