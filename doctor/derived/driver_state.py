"""What several checks ask of the facts about an NVIDIA driver."""

from __future__ import annotations

import re

from torchlift.doctor.check import Status
from torchlift.doctor.facts import DriverLibrary, Facts, Gpu, PciCard
from torchlift.wheels.drivers import parts

NVIDIA = "10de"
_GPU_CLASSES = ("03", "12")

CUDA_ERRORS = {
    1: "CUDA_ERROR_INVALID_VALUE",
    2: "CUDA_ERROR_OUT_OF_MEMORY",
    3: "CUDA_ERROR_NOT_INITIALIZED",
    34: "CUDA_ERROR_STUB_LIBRARY",
    46: "CUDA_ERROR_DEVICE_UNAVAILABLE",
    100: "CUDA_ERROR_NO_DEVICE",
    101: "CUDA_ERROR_INVALID_DEVICE",
    102: "CUDA_ERROR_DEVICE_NOT_LICENSED",
    304: "CUDA_ERROR_OPERATING_SYSTEM",
    800: "CUDA_ERROR_NOT_PERMITTED",
    802: "CUDA_ERROR_SYSTEM_NOT_READY",
    803: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
    804: "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
    999: "CUDA_ERROR_UNKNOWN",
}
"""Names of `cuInit` codes; source: CUresult in the CUDA driver API reference."""


def nvidia_cards(facts: Facts) -> list[PciCard]:
    """NVIDIA GPUs on the PCI bus, found without any driver: display controllers and processing accelerators."""
    return [card for card in facts.pci or () if card.vendor == NVIDIA and card.pci_class.startswith(_GPU_CLASSES)]


def driver_answers(facts: Facts) -> bool:
    """NVML or libcuda lists at least one GPU."""
    return bool(facts.gpus or facts.libcuda.devices)


def has_nvidia_gpu(facts: Facts) -> bool:
    """There is an NVIDIA GPU, by the PCI bus, the driver or its device nodes."""
    nodes = any(re.fullmatch(r"/dev/nvidia\d+", node.path) for node in facts.kernel_driver.device_nodes)
    return bool(nvidia_cards(facts)) or driver_answers(facts) or nodes


def breaks_torch(facts: Facts) -> Status:
    """How bad it is when CUDA cannot be used: a warning where the installed torch would not use it anyway, and no more
    than worth knowing where that torch is built for another vendor's GPUs."""
    if facts.torch is None or facts.torch.cuda is not None:
        return "problem"
    return "warning" if facts.torch.hip is None and facts.torch.xpu is None else "note"


def in_container(facts: Facts) -> bool:
    """Inside a container, whose driver and devices belong to the host."""
    return bool(facts.system.container)


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


def cuda_text(version: int) -> str:
    """13000 as "13.0"."""
    return f"{version // 1000}.{version % 1000 // 10}"


def libraries(facts: Facts, name: str = "libcuda.so.1") -> list[DriverLibrary]:
    """The copies of a driver library in the order in which the loader looks."""
    return [library for library in facts.kernel_driver.libraries if library.name == name]


def loaded_libcuda(facts: Facts) -> DriverLibrary | None:
    """The copy of libcuda.so.1 that programs get: the one the probe loaded, else the first that the loader finds."""
    found = libraries(facts)
    for library in found:
        if facts.libcuda.path in (library.path, library.real_path):
            return library
    return found[0] if found else None


def cuda_code(facts: Facts) -> int | None:
    """The code that `cuInit` refused with, None when it did not refuse."""
    return facts.libcuda.code if facts.libcuda.outcome == "error" else None


def code_text(code: int) -> str:
    """A `cuInit` code with its name."""
    return f"{code} ({CUDA_ERRORS[code]})" if code in CUDA_ERRORS else str(code)


def gpu_label(gpu: Gpu) -> str:
    """How messages name a GPU: "GPU 3 (NVIDIA H100 80GB HBM3)"."""
    return f"GPU {gpu.index} ({gpu.name})" if gpu.name else f"GPU {gpu.index}"


def gpu_list(gpus: list[Gpu]) -> str:
    """How messages name several GPUs: the model once, the indices."""
    if len(gpus) == 1:
        return gpu_label(gpus[0])
    return "GPUs " + ", ".join(str(gpu.index) for gpu in gpus)
