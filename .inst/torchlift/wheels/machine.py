"""The little that choosing a wheel needs to know about a machine."""

from __future__ import annotations

from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Device:
    """A GPU. `capability` is (major, minor), None when it is not known; `name` is for messages."""

    name: str
    capability: tuple[int, int] | None
    vendor: str = "nvidia"
    """"nvidia", "amd", "intel" or "apple"."""
    architecture: str | None = None
    """"gfx942" and the like for AMD."""


@dataclass(frozen=True)
class Machine:
    """GPUs, driver, platform and Python; None where unknown."""

    devices: tuple[Device, ...] = ()
    driver: str | None = None
    """NVIDIA driver version, such as "580.95.05"."""
    cuda_driver: int | None = None
    """The CUDA the driver supports, 13000 for 13.0: stands in where the driver version is not known."""
    os: str = "linux"
    """"linux", "windows" or "darwin"."""
    machine: str = "x86_64"
    """"x86_64" or "aarch64"."""
    python: tuple[int, int] | None = None
    free_threaded: bool = False
    glibc: tuple[int, int] | None = None
    musl: bool = False
    jetson: bool = False
    macos: tuple[int, int] | None = None
    windows_driver: bool = False
    """The driver's version is one of Windows although the system is Linux, as under WSL."""
