"""What is known about one machine: the record that probes fill and checks read.

Everything here is plain data and goes through JSON unharmed. `None` means "not known", never "no"; a probe that failed
leaves its part at `None` and adds a `ProbeFailure`. Sizes are bytes, paths are absolute strings, versions are the
strings the source printed. The published JSON schema is `doctor/facts.schema.json`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final, Literal

from torchlift.doctor.facts.gpus import (
    CallError,
    CudaDevice,
    Gpu,
    Libcuda,
    MigSlice,
    Nvml,
    PeerLink,
    SpareRows,
    SramEcc,
)
from torchlift.doctor.facts.installed import (
    ChangedFile,
    CodeImages,
    IndexSetting,
    Installing,
    Library,
    Package,
    Python,
    SharedFile,
    Toolkit,
    Torch,
)
from torchlift.doctor.facts.machine import (
    DeviceNode,
    DriverLibrary,
    KernelDriver,
    KernelLog,
    OtherAccelerators,
    PciCard,
    RocmDevice,
    System,
    XidError,
)
from torchlift.json_records import REQUIRED
from torchlift.lazy_dataclass import dataclass

__all__ = [
    "FACTS_SCHEMA",
    "CallError",
    "ChangedFile",
    "CodeImages",
    "CudaDevice",
    "DeviceNode",
    "DriverLibrary",
    "Facts",
    "Gpu",
    "IndexSetting",
    "Installing",
    "KernelDriver",
    "KernelLog",
    "Libcuda",
    "Library",
    "MigSlice",
    "Nvml",
    "OtherAccelerators",
    "Package",
    "PciCard",
    "PeerLink",
    "ProbeFailure",
    "Python",
    "RocmDevice",
    "SharedFile",
    "SpareRows",
    "SramEcc",
    "System",
    "Toolkit",
    "Torch",
    "XidError",
]

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
