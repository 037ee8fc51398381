"""What is known about one machine: the record that probes fill and checks read.

Everything here is plain data and goes through JSON unharmed. `None` means "not known", never "no"; a probe that failed
leaves its part at `None` and adds a `ProbeFailure`. Sizes are bytes, paths are absolute strings, versions are the
strings the source printed. The published JSON schema is `doctor/facts.schema.json`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final, Literal

from torchlift.json_records import REQUIRED
from torchlift.lazy_dataclass import dataclass

FACTS_SCHEMA: Final = 1
"""Version of the JSON form. Added fields do not change it; removed or re-interpreted ones do."""


@dataclass
class ProbeFailure:
    """A probe that gave no answer: `outcome` is "error", "crashed" (with `signal`), "timeout" or "stuck"."""

    probe: str
    outcome: str
    detail: str
    signal: int | None = None
    seconds: float | None = None


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
class CallError:
    """An NVML call that was refused: a fact (`NotSupported`, `NoPermission`, ...), not a failure of the probe."""

    call: str
    code: int
    """NVML's, or -1 when nvidia-ml-py itself failed; then `name` is the Python exception's."""
    name: str


@dataclass
class MigSlice:
    """A MIG device."""

    uuid: str | None
    name: str | None
    memory: int | None


@dataclass
class SramEcc:
    """Errors in the memory on the chip itself, as `nvmlDeviceGetSramEccErrorStatus` counts them."""

    uncorrected: int
    """Parity and double-bit errors since the last driver load."""
    uncorrected_ever: int
    corrected_ever: int
    threshold_exceeded: bool
    """More than NVIDIA's field diagnostic lets pass."""


@dataclass
class SpareRows:
    """How many banks of memory have how many spare rows left (`nvmlDeviceGetRowRemapperHistogram`)."""

    all: int
    most: int
    some: int
    few: int
    none: int


@dataclass
class Gpu:
    """A GPU as NVML describes it; every field but the index may be unknown."""

    index: int
    uuid: str | None = None
    name: str | None = None
    pci_address: str | None = None
    """As in /sys/bus/pci: "0000:17:00.0"."""
    pci_device: str | None = None
    """The four hexadecimal digits of the PCI device."""
    compute_capability: str | None = None
    """"9.0"."""
    brand: str | None = None
    """"geforce", "tesla", "quadro", "nvidia-rtx", "titan", "grid", ... from `nvmlDeviceGetBrand`."""
    memory_total: int | None = None
    memory_used: int | None = None
    lost: bool = False
    """A call answered GPU_IS_LOST."""
    mig_enabled: bool | None = None
    mig_slices: list[MigSlice] = field(default_factory=list)
    compute_mode: str | None = None
    """"default", "exclusive-process", "exclusive-thread" or "prohibited"."""
    persistence: bool | None = None
    ecc_enabled: bool | None = None
    ecc_uncorrected: int | None = None
    """Uncorrected errors since the last driver load."""
    ecc_uncorrected_ever: int | None = None
    ecc_corrected_ever: int | None = None
    sram_ecc: SramEcc | None = None
    retired_pages_pending: bool | None = None
    remapped_rows_correctable: int | None = None
    remapped_rows_uncorrectable: int | None = None
    remapping_pending: bool | None = None
    remapping_failed: bool | None = None
    spare_rows: SpareRows | None = None
    recovery_action: str | None = None
    """What NVML says the GPU needs: "none", "gpu-reset", "node-reboot", "drain-p2p", "drain-and-reset",
    "recover-imex-domain", "bus-reset", "system-reboot"; an action that its reference did not name in 2026-11 is a number."""
    throttle_reasons: list[str] = field(default_factory=list)
    """Active clock event reasons: "sw-power-cap", "hw-slowdown", "sw-thermal-slowdown", "hw-thermal-slowdown",
    "hw-power-brake", "sync-boost", "applications-clocks", "display-clocks", "board-limit", "reliability", "idle"; a bit
    that NVML's reference did not name in 2026-11 is given as a number, such as "0x800"."""
    pcie_generation: int | None = None
    pcie_generation_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    nvlinks_active: int | None = None
    nvlinks_inactive: int | None = None
    virtualization: str | None = None
    """"none", "passthrough", "vgpu", "host-vgpu" or "host-vsga"."""
    gsp_firmware: str | None = None
    fabric_state: str | None = None
    """"not-supported", "not-started", "in-progress" or "completed"."""
    fabric_status: int | None = None
    """The NVML return code of the fabric registration, 0 when well."""
    fabric_faults: list[str] | None = None
    """What is wrong with its part of the fabric, by the names of NVML's health mask: "degraded-bandwidth",
    "route-recovery", "route-unhealthy", "access-timeout-recovery", or a wrong configuration such as "no-partition"."""
    fabric_cluster: str | None = None
    """UUID of the NVLink domain, None when there is none."""
    fabric_clique: int | None = None
    """GPUs of one domain reach each other when they have the same."""
    processes: int | None = None
    temperature: int | None = None
    power_limit: float | None = None
    """Watts."""
    power_limit_default: float | None = None
    sm_clock: int | None = None
    sm_clock_max: int | None = None
    memory_clock_max: int | None = None
    errors: list[CallError] = field(default_factory=list)


@dataclass
class PeerLink:
    """What NVML says of peer-to-peer access from one GPU to another."""

    source: int
    target: int
    read: str
    """"ok", "chipset-not-supported", "gpu-not-supported", "topology-not-supported", "disabled-by-regkey",
    "not-supported" or "unknown"."""
    write: str
    topology: str | None = None
    """"internal", "single", "multiple", "hostbridge", "node" or "system"."""


@dataclass
class Nvml:
    """NVML's own answer."""

    outcome: str = "not-run"
    """"ok", "error" (initialisation refused, see `code`), "missing" (no library), "crashed", "timeout", "not-run"."""
    code: int | None = None
    name: str | None = None
    """"DriverNotLoaded", "LibRmVersionMismatch", "NoPermission", ... as nvidia-ml-py names the code."""
    text: str | None = None
    driver_version: str | None = None
    cuda_version: int | None = None
    """The highest CUDA the driver knows: 13000 is 13.0."""
    driver_branch: str | None = None
    library_error: str | None = None
    """What the loader said about libnvidia-ml.so.1 (nvidia-ml-py hides it)."""
    gpu_count: int | None = None
    errors: list[CallError] = field(default_factory=list)


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
class CudaDevice:
    """A device as libcuda enumerates it, in CUDA's order and after CUDA_VISIBLE_DEVICES."""

    ordinal: int
    name: str | None = None
    compute_capability: str | None = None
    uuid: str | None = None
    memory_total: int | None = None
    integrated: bool | None = None


@dataclass
class Libcuda:
    """The CUDA driver library's own answer."""

    outcome: str = "not-run"
    """"ok", "error" (cuInit refused, see `code`), "missing", "crashed", "timeout", "not-run"."""
    code: int | None = None
    name: str | None = None
    """"CUDA_ERROR_NO_DEVICE", ..."""
    text: str | None = None
    version: int | None = None
    """`cuDriverGetVersion`: 13000 is 13.0."""
    path: str | None = None
    """The file that was really loaded."""
    library_error: str | None = None
    devices: list[CudaDevice] = field(default_factory=list)


@dataclass
class Python:
    """The interpreter that was examined."""

    executable: str = ""
    version: str = ""
    """"3.11.7"."""
    implementation: str = "cpython"
    free_threaded: bool | None = None
    machine: str | None = None
    bits: int | None = None
    prefix: str | None = None
    virtual_environment: bool | None = None
    conda_environment: str | None = None
    path: list[str] = field(default_factory=list)
    """`sys.path`."""
    user_site: str | None = None
    """The per-user folder when it is on the path, else ""."""
    externally_managed: bool | None = None
    made_by_uv: bool | None = None
    """Its virtual environment was made by uv, which puts no pip into it."""


@dataclass
class ChangedFile:
    """An installed file that is not what its package recorded; `state` is "missing" or "changed"."""

    path: str
    state: str


@dataclass
class Package:
    """An installed distribution that matters here."""

    name: str
    """Normalised (PEP 503)."""
    version: str
    metadata_path: str
    requires: list[str] = field(default_factory=list)
    """Its `Requires-Dist` lines."""
    tags: list[str] = field(default_factory=list)
    """The wheel's tags."""
    build_tag: str | None = None
    installer: str | None = None
    """"pip", "uv", "conda", ..."""
    editable: bool | None = None
    source_url: str | None = None
    """Of direct_url.json, without credentials."""
    changed_files: list[ChangedFile] = field(default_factory=list)


@dataclass
class SharedFile:
    """A file that more than one installed distribution claims."""

    path: str
    owners: list[str]
    matches: list[str]
    """The owners whose recorded hash is the one on disk."""


@dataclass
class CodeImages:
    """How many device code images of one kind and architecture a library embeds."""

    kind: str
    """"sass" or "ptx"."""
    architecture: str
    """"90", "90a", "100f"."""
    count: int


@dataclass
class Library:
    """A native library of an installed distribution with device code or a link to torch."""

    path: str
    package: str | None
    size: int
    images: list[CodeImages] = field(default_factory=list)
    needed: list[str] = field(default_factory=list)
    """DT_NEEDED."""
    missing_needed: list[str] = field(default_factory=list)
    """Needed libraries that no rpath, sibling package or loader folder holds."""
    undefined_torch_symbols: list[str] = field(default_factory=list)
    """Undefined symbols of torch's or c10's namespaces that the installed torch does not define (at most 20)."""
    error: str | None = None
    """Why it could not be read (truncated, not ELF, ...)."""


@dataclass
class Torch:
    """The torch that `import torch` would take, read from its files."""

    path: str
    version: str
    """Of torch/version.py, such as "2.15.0+cu132"."""
    metadata_version: str | None = None
    cuda: str | None = None
    """The CUDA it was built for ("13.2"), None for a build without."""
    hip: str | None = None
    xpu: str | None = None
    debug: bool | None = None
    git_version: str | None = None
    other_copies: list[str] = field(default_factory=list)
    """Further folders on sys.path that hold a torch."""
    import_outcome: str = "not-run"
    """"ok", "error", "crashed", "timeout", "not-run" (importing costs seconds and is asked for)."""
    import_error: str | None = None
    import_seconds: float | None = None
    cuda_available: bool | None = None
    foreign_libraries: list[str] = field(default_factory=list)
    """CUDA libraries that the import mapped from outside the environment."""


@dataclass
class Toolkit:
    """A CUDA toolkit on the disk."""

    path: str
    version: str | None
    on_path: bool = False
    """Its nvcc is the first on PATH."""


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


@dataclass
class IndexSetting:
    """Where a tool is told to take packages from, instead of or beside PyPI."""

    tool: str
    """"pip" or "uv"."""
    role: str
    """"index" (instead of PyPI), "extra", "links" (a page or a folder of files) or "none" (no index at all)."""
    address: str
    """Without users and passwords; "" for the role "none"."""
    source: str
    """The variable, or the file and the setting in it."""


@dataclass
class Installing:
    """How people install packages here: what the folder in which the doctor was run shows, and which indexes are set."""

    folder: str | None = None
    """The nearest folder, from that one upwards, with a file of one of `tools`."""
    tools: list[str] = field(default_factory=list)
    """"uv", "poetry", "pixi", "conda" and "docker", by their files."""
    indexes: list[IndexSetting] = field(default_factory=list)
    chosen: str | None = None
    """The way that the user named: "pip", "uv", "uv-project", "poetry", "pixi", "conda" or "dockerfile"."""


@dataclass
class Facts:
    """One machine at one time."""

    schema: Literal[1] = field(default=FACTS_SCHEMA, metadata=REQUIRED)
    """Changes when a field is removed or re-interpreted, not when one is added."""
    torchlift: str = ""
    taken: str = ""
    """UTC, ISO 8601."""
    hypothetical: bool = False
    """Described by the user (`--gpu`, `--driver`), not looked at: nothing but the resolver has a say."""
    system: System = field(default_factory=System)
    pci: list[PciCard] | None = None
    kernel_driver: KernelDriver = field(default_factory=KernelDriver)
    nvml: Nvml = field(default_factory=Nvml)
    gpus: list[Gpu] = field(default_factory=list)
    peers: list[PeerLink] = field(default_factory=list)
    kernel_log: KernelLog = field(default_factory=KernelLog)
    libcuda: Libcuda = field(default_factory=Libcuda)
    python: Python = field(default_factory=Python)
    torch: Torch | None = None
    packages: list[Package] = field(default_factory=list)
    """torch, torchvision, torchaudio, triton, nvidia-*, and every distribution with device code or a link to torch."""
    shared_files: list[SharedFile] = field(default_factory=list)
    libraries: list[Library] = field(default_factory=list)
    toolkits: list[Toolkit] = field(default_factory=list)
    other: OtherAccelerators = field(default_factory=OtherAccelerators)
    installing: Installing = field(default_factory=Installing)
    environment: dict[str, str] = field(default_factory=dict)
    """Only variables known to matter to CUDA, torch, NCCL, ROCm, XPU, the loader and Python's path."""
    failures: list[ProbeFailure] = field(default_factory=list)

    def package(self, name: str) -> Package | None:
        """The installed distribution of this (normalised) name."""
        return next((package for package in self.packages if package.name == name), None)
