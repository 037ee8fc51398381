"""Whole machines for the real command: fake driver libraries, a tree of /proc, /sys and /dev, an environment with torch."""

from __future__ import annotations

import json
import os
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commands import command
from fake_drivers import FakeDrivers, FakeGpu, Value
from native_files import CUBIN, elf, fatbin, image

CU132 = (75, 80, 86, 90, 100, 120)
CU126 = (50, 60, 70, 75, 80, 86, 90)


def torch_environment(folder: Path, version: str = "2.15.0+cu132", images: Sequence[int] = CU132) -> Path:
    """A virtual environment with the files of a CUDA torch that tell what it is; its interpreter."""
    root = folder / "env"
    venv.create(root, with_pip=False, symlinks=True)
    python = root / "bin" / "python"
    site = next((root / "lib").glob("python3.*")) / "site-packages"
    public, _, local = version.partition("+")
    cuda = f"{local[2:-1]}.{local[-1]}" if local.startswith("cu") else None
    for name, content in {
        "torch/__init__.py": b"raise SystemExit('nobody imports me')\n",
        "torch/version.py": f"__version__ = {version!r}\ncuda = {cuda!r}\nhip = None\nxpu = None\n".encode(),
        "torch/lib/libtorch_cuda.so": elf([(".nv_fatbin", fatbin(*(image(CUBIN, number) for number in images)))]),
        f"torch-{public}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n".encode(),
        f"torch-{public}.dist-info/WHEEL": b"Wheel-Version: 1.0\nTag: cp311-cp311-manylinux_2_28_x86_64\n",
        f"torch-{public}.dist-info/INSTALLER": b"pip\n",
        f"torch-{public}.dist-info/RECORD": b"",
    }.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return python


def machine_tree(folder: Path, gpus: Sequence[FakeGpu], driver: str, libraries: Path | None) -> Path:
    """What /etc, /proc, /sys and /dev of a Linux machine with these GPUs and this kernel module hold."""
    root = folder / "root"
    files = {
        "etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\n',
        "proc/version": "Linux version 6.8.0-87-generic (builder)\n",
        "proc/cmdline": "quiet\n",
        "proc/meminfo": "MemTotal: 263000000 kB\n",
        "proc/modules": "nvidia_uvm 1 0 - Live 0x0\nnvidia 1 1 nvidia_uvm, Live 0x0\n",
        "proc/devices": "195 nvidia-frontend\n",
    }
    if driver:
        files["proc/driver/nvidia/version"] = (
            f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {driver}  Tue Sep 23 09:55:41 UTC 2026\nGCC version:  13\n"
        )
        for node in ("nvidiactl", "nvidia-uvm", *(f"nvidia{index}" for index in range(len(gpus)))):
            files[f"dev/{node}"] = ""
    for index, gpu in enumerate(gpus):
        place = f"sys/bus/pci/devices/0000:{0x10 + index:02x}:00.0"
        files |= {
            f"{place}/vendor": "0x10de\n",
            f"{place}/device": f"0x{gpu.pci_device:04x}\n",
            f"{place}/class": "0x030200\n",
        }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for index in range(len(gpus)) if driver else ():
        target = root / "sys/bus/pci/drivers/nvidia"
        target.mkdir(parents=True, exist_ok=True)
        (root / f"sys/bus/pci/devices/0000:{0x10 + index:02x}:00.0/driver").symlink_to(target)
    if libraries is not None:
        # The probes see the tree and the loader sees the disk: the same folder has to be in both.
        inside = root / str(libraries).lstrip("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        inside.symlink_to(libraries)
    return root


@dataclass(frozen=True)
class Answered:
    """What the command said."""

    code: int
    report: dict[str, Any]
    error: str

    @property
    def verdict(self) -> str:
        return str(self.report["verdict"])

    def found(self, *statuses: str) -> dict[str, str]:
        """Ids of checks with results of these statuses, and what they say."""
        return {item["check"]: item["summary"] for item in self.report["results"] if item["status"] in statuses}

    def commands(self) -> str:
        return "\n".join(
            item["remedy"]["command"] or item["remedy"]["text"] for item in self.report["results"] if item["remedy"]
        )


@dataclass
class Doctor:
    """Runs the real command on machines."""

    drivers: FakeDrivers
    folder: Path
    arguments: list[str] = field(default_factory=list)

    def examine(
        self,
        gpus: Sequence[FakeGpu],
        *,
        driver: str = "595.58.03",
        cuda: int = 13020,
        kernel: str | None = None,
        torch: str = "2.15.0+cu132",
        images: Sequence[int] = CU132,
        arguments: Sequence[str] = (),
        files: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        values: Mapping[str, Value] | None = None,
        **more: Any,
    ) -> Answered:
        """The answer about a machine; `more` as `FakeDrivers.machine`."""
        python = torch_environment(self.folder, torch, images)
        variables = self.drivers.machine(gpus, driver=driver, cuda=cuda, environment=environment, values=values, **more)
        root = machine_tree(self.folder, gpus, driver if kernel is None else kernel, Path(variables["LD_LIBRARY_PATH"]))
        for name, text in (files or {}).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            variables.pop(name, None)
        arguments = ("doctor", "--json", "--root", str(root), "--python", str(python), *arguments)
        done = command(arguments, environment={**dict.fromkeys(os.environ), **variables})
        assert done.stdout, done.stderr
        return Answered(done.returncode, json.loads(done.stdout), done.stderr.decode())
