"""Machines with fake NVIDIA drivers: real shared libraries, built from fixtures/drivers, that answer from a script.

    def test_...(fake_drivers):
        environment = fake_drivers.machine([H100, H100], driver="580.95.05", cuda=13000)
        subprocess.run([...], env=environment)

The fixture is in conftest.py; it skips where there is no C compiler or no Linux loader.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "fixtures" / "drivers"
GIB = 1 << 30

Value = int | str | tuple[int, ...]
"""What a key of the script holds; a tuple is written as numbers with blanks between."""


@dataclass(frozen=True)
class FakeGpu:
    """A GPU of a fake machine. `values` are further keys of the script; see fixtures/drivers/script.h."""

    name: str
    capability: tuple[int, int]
    memory: int
    pci_device: int
    brand: int = 5
    values: Mapping[str, Value] = field(default_factory=dict)

    def having(self, **values: Value) -> FakeGpu:
        """This GPU with some values added or changed; a function's name with a code, "hang" or "crash" is one too."""
        return replace(self, values={**self.values, **values})

    def mig(self, slices: Sequence[tuple[str, int]]) -> FakeGpu:
        """This GPU in MIG mode with slices of a profile ("1g.10gb") and a size in bytes."""
        values: dict[str, Value] = {"mig": (1, 1)}
        for index, (profile, memory) in enumerate(slices):
            values[f"slice{index}.name"] = f"{self.name} MIG {profile}"
            values[f"slice{index}.uuid"] = f"MIG-{index:08x}-0000-5000-8000-000000000000"
            values[f"slice{index}.memory"] = (memory, 0)
        return self.having(**values)


_COMMON: Mapping[str, Value] = {
    "compute_mode": 0,
    "persistence": 1,
    "virtualization": 0,
    "pcie_generation": 4,
    "pcie_generation_max": 4,
    "pcie_width": 16,
    "pcie_width_max": 16,
    "temperature": 41,
    "throttle": 0,
    "power_limit": 300_000,
    "power_limit_default": 300_000,
    "sm_clock": 1410,
    "sm_clock_max": 1980,
    "memory_clock_max": 2619,
}
_DATA_CENTRE: Mapping[str, Value] = {
    **_COMMON,
    "ecc": (1, 1),
    "ecc_uncorrected": 0,
    "remapped_rows": (0, 0, 0, 0),
    "mig": (0, 0),
    "gsp": "580.95.05",
}

K80 = FakeGpu("Tesla K80", (3, 7), 12 * GIB, 0x102D, 2, {**_COMMON, "ecc": (1, 1), "ecc_uncorrected": 0})
GTX_1080_TI = FakeGpu("NVIDIA GeForce GTX 1080 Ti", (6, 1), 11 * GIB, 0x1B06, 5, _COMMON)
P100 = FakeGpu("Tesla P100-SXM2-16GB", (6, 0), 16 * GIB, 0x15F9, 2, {**_COMMON, "ecc": (1, 1), "retired_pending": 0})
V100 = FakeGpu(
    "Tesla V100-SXM2-16GB",
    (7, 0),
    16 * GIB,
    0x1DB1,
    2,
    {**_COMMON, "ecc": (1, 1), "ecc_uncorrected": 0, "retired_pending": 0, "nvlink": (1, 1, 1, 1, 1, 1)},
)
T4 = FakeGpu("Tesla T4", (7, 5), 15 * GIB, 0x1EB8, 2, {**_COMMON, "ecc": (1, 1), "ecc_uncorrected": 0})
A100 = FakeGpu("NVIDIA A100-SXM4-40GB", (8, 0), 40 * GIB, 0x20B0, 14, {**_DATA_CENTRE, "nvlink": (1,) * 12})
RTX_4090 = FakeGpu("NVIDIA GeForce RTX 4090", (8, 9), 24 * GIB, 0x2684, 5, _COMMON)
H100 = FakeGpu(
    "NVIDIA H100 80GB HBM3", (9, 0), 80 * GIB, 0x2330, 14, {**_DATA_CENTRE, "nvlink": (1,) * 18, "fabric": (3, 0)}
)
B200 = FakeGpu("NVIDIA B200", (10, 0), 180 * GIB, 0x2901, 14, {**_DATA_CENTRE, "nvlink": (1,) * 18, "fabric": (3, 0)})
RTX_5090 = FakeGpu("NVIDIA GeForce RTX 5090", (12, 0), 32 * GIB, 0x2B85, 5, _COMMON)
GB10 = FakeGpu("NVIDIA GB10", (12, 1), 120 * GIB, 0x2E12, 14, {**_COMMON, "integrated": 1})
UNKNOWN = FakeGpu("NVIDIA Graphics Device", (13, 7), 96 * GIB, 0x3FFF, 14, _COMMON)
"""An architecture that no table has."""


@dataclass(frozen=True)
class FakeDrivers:
    """The built libraries, and a folder to set up machines in."""

    built: Path
    folder: Path

    def machine(
        self,
        gpus: Sequence[FakeGpu] = (),
        *,
        driver: str = "580.95.05",
        cuda: int = 13000,
        nvml: bool | bytes = True,
        libcuda: bool | bytes = True,
        old: bool = False,
        environment: Mapping[str, str] | None = None,
        values: Mapping[str, Value] | None = None,
        **calls: Value,
    ) -> dict[str, str]:
        """The environment of a process on a machine that has these GPUs and this driver.

        `nvml` and `libcuda`: False for no such library, bytes for a file with this content in its place. `old` builds
        lack what came after the R440 branch. `calls` are functions and what they return ("hang" and "crash" too).
        """
        place = self.folder / f"machine{len(list(self.folder.glob('machine*')))}"
        libraries = place / "lib"
        libraries.mkdir(parents=True)
        for soname, source, wanted in (("libnvidia-ml.so", "nvml", nvml), ("libcuda.so", "cuda", libcuda)):
            # As a driver package installs them: the soname is a link to a file with the driver's version in its name.
            real = libraries / f"{soname}.{driver}"
            if isinstance(wanted, bytes):
                real.write_bytes(wanted)
            elif wanted:
                shutil.copy(self.built / f"fake_{source}{'_old' if old else ''}.so", real)
            if wanted is not False:
                (libraries / f"{soname}.1").symlink_to(real.name)

        script: dict[str, Value] = {"driver": driver, "cuda": cuda, "count": len(gpus), **(values or {}), **calls}
        for index, gpu in enumerate(gpus):
            script |= {f"{index}.{key}": value for key, value in _of_gpu(index, gpu).items()}
        text = "".join(f"{key}={_written(value)}\n" for key, value in script.items())
        (place / "script").write_text(text, encoding="utf-8")

        inherited = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
        return {
            **inherited,
            "LD_LIBRARY_PATH": str(libraries),
            "TORCHLIFT_FAKE_DRIVER": str(place / "script"),
            **(environment or {}),
        }


def _of_gpu(index: int, gpu: FakeGpu) -> dict[str, Value]:
    return {
        "name": gpu.name,
        "uuid": uuid_of(index),
        "pci": (0x10 + index, gpu.pci_device),
        "capability": gpu.capability,
        "memory": (gpu.memory, 0),
        "brand": gpu.brand,
        **gpu.values,
    }


def uuid_of(index: int) -> str:
    """The UUID of a machine's GPU."""
    return f"GPU-{index:08x}-0000-4000-8000-00000000{index:04x}"


def _written(value: Value) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def why_not() -> str | None:
    """Why there can be no fake drivers here; None when there can."""
    if not sys.platform.startswith("linux"):
        return "fake drivers need the Linux loader (LD_LIBRARY_PATH)"
    return None if shutil.which("cc") else "no C compiler: `cc` is not on PATH"


def is_installed(library: str) -> bool:
    """Whether this machine has a driver library of its own: then there is no being without it."""
    code = f"import ctypes; ctypes.CDLL({library!r})"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def build(folder: Path) -> None:
    """Build the fake libraries, of a current and of an old driver, into a folder."""
    for name in ("nvml", "cuda"):
        for suffix, defined in (("", []), ("_old", ["-DOLD_DRIVER"])):
            target = folder / f"fake_{name}{suffix}.so"
            flags = ["-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", *defined]
            subprocess.run(["cc", *flags, "-o", str(target), str(SOURCES / f"fake_{name}.c")], check=True)
