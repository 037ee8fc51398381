"""Intel's GPUs that PyTorch's XPU builds are for, by PCI device id; the table is data/intel_gpus.tsv."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, cast

from torchlift.lazy_dataclass import dataclass
from torchlift.wheels.tables import text

IntelKind = Literal["data-centre", "discrete", "integrated"]


@dataclass(frozen=True)
class IntelGpu:
    """A model. `kind` says what it is there for: an integrated one may serve the screen only."""

    pci_device: str
    kind: IntelKind
    name: str


def intel_gpu(device: str) -> IntelGpu | None:
    """The GPU with this PCI device id ("e20b"), None for older graphics and those that the table has not."""
    return _table().get(device.strip().lower())


def intel_gpu_named(name: str) -> IntelGpu | None:
    """The first GPU whose name holds every word of `name` ("Arc B580", "Max 1550")."""
    wanted = _words(name)
    return next((gpu for gpu in _table().values() if wanted and wanted <= _words(gpu.name)), None)


@cache
def _table() -> dict[str, IntelGpu]:
    lines = [line for line in text("intel_gpus.tsv").splitlines() if line and not line.startswith("#")]
    rows = (line.split("\t") for line in lines[1:])
    return {device: IntelGpu(device, cast(IntelKind, kind), name) for device, kind, name in rows}


def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", name.lower())) - {"intel", "gpu", "graphics"}
