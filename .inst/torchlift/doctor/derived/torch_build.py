"""Which build of torch is installed, told from its version and what it was compiled for."""

from __future__ import annotations

import re

from torchlift.doctor.facts import Torch
from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True)
class TorchBuild:
    """An installed torch. Unknown parts are None."""

    release: tuple[int, int] | None
    """(2, 15) of 2.15.0."""
    public: str
    """The version without its local part: "2.15.0"."""
    tag: str | None
    """"cu132", "cpu", "rocm7.2" or "xpu", as the wheel indices are called."""
    vendor: str
    """Whose GPUs it can use: "nvidia", "amd", "intel" or "none"."""
    cuda: tuple[int, int] | None
    """The toolkit it was built with."""


def torch_build(torch: Torch) -> TorchBuild:
    """Read the build; wheels of the default index carry no local version, so the compiled-in CUDA decides."""
    public, _, local = torch.version.partition("+")
    found = re.match(r"(\d{1,3})\.(\d{1,3})", public, re.ASCII)
    release = (int(found[1]), int(found[2])) if found else None
    cuda = toolkit(torch.cuda)
    if torch.cuda is not None:
        tag = f"cu{cuda[0]}{cuda[1]}" if cuda else None
        return TorchBuild(release, public, tag, "nvidia", cuda)
    if torch.hip is not None:
        return TorchBuild(release, public, local if local.startswith("rocm") else None, "amd", None)
    if torch.xpu is not None:
        return TorchBuild(release, public, "xpu", "intel", None)
    return TorchBuild(release, public, "cpu", "none", None)


def toolkit(text: str | None) -> tuple[int, int] | None:
    """ "13.2" or "13.2.75" as (13, 2); None for everything else."""
    found = re.match(r"(\d{1,2})\.(\d{1,2})(?!\d)", text or "", re.ASCII)
    return (int(found[1]), int(found[2])) if found else None


def driver_toolkit(version: int | None) -> tuple[int, int] | None:
    """The driver's CUDA as NVML and libcuda count it, 13020 for (13, 2); None when not known."""
    if version is None or not 1000 <= version < 1_000_000:
        return None
    return version // 1000, version % 1000 // 10
