"""The computer around the GPUs: its system, cards, kernel driver and kernel log, and accelerators of others."""

from __future__ import annotations

from dataclasses import field

from torchlift.lazy_dataclass import dataclass


@dataclass
class System:
    """The operating system and what surrounds it."""

    os: str = ""
    """"linux", "windows" or "darwin"."""
    machine: str = ""
    """"x86_64" or "aarch64" (also for arm64 and AMD64), else as the system says."""
    kernel: str | None = None
    distribution: str | None = None
    """`ID` of /etc/os-release, such as "ubuntu"."""
    distribution_version: str | None = None
    libc: str | None = None
    """"glibc" or "musl"."""
    libc_version: str | None = None
    macos_version: str | None = None
    wsl: int | None = None
    """1 or 2 under the Windows Subsystem for Linux, 0 outside."""
    container: str | None = None
    """"docker", "podman", "kubernetes", "singularity", "lxc", "unknown", or "" when there is none."""
    jetson_release: str | None = None
    """The release of /etc/nv_tegra_release, such as "R36.4.3"; "" when the machine is no Jetson."""
    jetson_model: str | None = None
    cpu_count: int | None = None
    memory: int | None = None
    shm_total: int | None = None
    shm_free: int | None = None
    memlock_limit: int | None = None
    """Soft RLIMIT_MEMLOCK in bytes, -1 for unlimited."""
    open_files_limit: int | None = None
    iommu_parameters: list[str] = field(default_factory=list)
    """The kernel command line's words about the IOMMU."""
    compilers: dict[str, str] = field(default_factory=dict)
    """Host compilers on PATH: "gcc", "g++", "cc", "clang", "cl" -> path."""
    secure_boot: bool | None = None


@dataclass
class PciCard:
    """A display or accelerator device on the PCI bus, seen without any driver."""

    address: str
    vendor: str
    """Four hexadecimal digits, lower case: "10de" NVIDIA, "1002" AMD, "8086" Intel."""
    device: str
    pci_class: str
    """The first four digits: "0300" VGA, "0302" 3D controller, "1200" processing accelerator."""
    driver: str | None = None
    """The kernel driver bound to it ("nvidia", "nouveau", "vfio-pci", "amdgpu", "i915", "xe"), "" for none."""
    link_width: int | None = None
    link_width_max: int | None = None
    link_speed: str | None = None
    link_speed_max: str | None = None
    numa_node: int | None = None


@dataclass
class DriverLibrary:
    """A user-space driver library as the loader could find it."""

    name: str
    """"libcuda.so.1" or "libnvidia-ml.so.1" (nvcuda.dll and nvml.dll on Windows)."""
    path: str
    real_path: str
    version: str | None
    """From the real file's name, such as "580.95.05"."""
    size: int
    found_by: str
    """"LD_LIBRARY_PATH", "ldconfig" or "directory"."""
    stub: bool = False
    """It lies in a `stubs` folder of a toolkit."""
    compat: bool = False
    """It belongs to a CUDA forward-compatibility package."""


@dataclass
class DeviceNode:
    """A file below /dev that a driver needs."""

    path: str
    readable: bool
    writable: bool


@dataclass
class KernelDriver:
    """The NVIDIA kernel modules and what belongs to them."""

    version: str | None = None
    """Of the loaded module, from /proc/driver/nvidia/version."""
    open_module: bool | None = None
    modules: list[str] = field(default_factory=list)
    """Loaded ones among nvidia, nvidia_uvm, nvidia_drm, nvidia_modeset, nvidia_peermem, nouveau, amdgpu, i915, xe."""
    device_nodes: list[DeviceNode] = field(default_factory=list)
    libraries: list[DriverLibrary] = field(default_factory=list)
    fabric_manager_running: bool | None = None
    fabric_manager_version: str | None = None
    persistence_daemon_running: bool | None = None
    imex_running: bool | None = None
    """nvidia-imex, which machines of one NVLink domain share memory through."""


@dataclass
class XidError:
    """An error that the NVIDIA driver wrote into the kernel log."""

    code: int
    pci_address: str | None
    """As in /sys/bus/pci."""
    text: str
    """What follows the code."""
    count: int = 1
    """How often this code came from this GPU; `text` is the last."""


@dataclass
class KernelLog:
    """What the kernel log says of NVIDIA's driver since the machine was started."""

    source: str | None = None
    """Where it was read: "/dev/kmsg", "/var/log/kern.log", "journalctl", ...; None when nobody may."""
    xids: list[XidError] = field(default_factory=list)


@dataclass
class RocmDevice:
    """An AMD GPU as the kernel's KFD topology names it."""

    node: int
    architecture: str
    """"gfx942"."""
    name: str | None = None


@dataclass
class OtherAccelerators:
    """ROCm, XPU and MPS."""

    rocm_version: str | None = None
    rocm_devices: list[RocmDevice] = field(default_factory=list)
    level_zero: str | None = None
    """Path of libze_loader.so.1."""
    mps: bool | None = None
    """An Apple GPU that Metal Performance Shaders can use (arm64 macOS)."""
