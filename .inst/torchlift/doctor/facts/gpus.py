"""What the driver's two libraries, NVML and libcuda, say about its GPUs."""

from __future__ import annotations

from dataclasses import field

from torchlift.lazy_dataclass import dataclass


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
