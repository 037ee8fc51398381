"""NVIDIA's driver: whether it answers, which it is, and which CUDA it offers."""

from __future__ import annotations

from torchlift.doctor.derived.driver_libraries import libraries
from torchlift.doctor.facts import Facts
from torchlift.wheels.drivers import parts


def driver_answers(facts: Facts) -> bool:
    """NVML or libcuda lists at least one GPU."""
    return bool(facts.gpus or facts.libcuda.devices)


def driver_version(facts: Facts) -> str | None:
    """Version of the driver that runs: the kernel module's, else NVML's word, else that of libcuda's file name."""
    for version in (facts.kernel_driver.version, facts.nvml.driver_version, *(lib.version for lib in libraries(facts))):
        if parts(version):
            return version
    return None


def cuda_of_driver(facts: Facts) -> int | None:
    """The highest CUDA the driver supports (13000 for 13.0), by libcuda, else by NVML."""
    for version in (facts.libcuda.version, facts.nvml.cuda_version):
        if version is not None and version > 0:
            return version
    return None


def cuda_code(facts: Facts) -> int | None:
    """The code that `cuInit` refused with, None when it did not refuse."""
    return facts.libcuda.code if facts.libcuda.outcome == "error" else None
