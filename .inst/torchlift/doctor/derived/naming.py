"""How messages name GPUs, versions of CUDA and codes of the driver."""

from __future__ import annotations

from torchlift.doctor.facts import Gpu

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


def cuda_text(version: int) -> str:
    """13000 as "13.0"."""
    return f"{version // 1000}.{version % 1000 // 10}"


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


def spelled(capability: tuple[int, int]) -> str:
    """(9, 0) as "9.0"."""
    return f"{capability[0]}.{capability[1]}"
