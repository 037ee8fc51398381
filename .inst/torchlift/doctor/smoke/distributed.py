"""What smokes of torch.distributed share: the gate and the known failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .smoke import Signature

if TYPE_CHECKING:
    from .bench import Bench

HANG = Signature(
    "ranks-hang",
    r"wait for each other|Watchdog caught collective operation timeout|not done within",
    "The ranks wait for each other for ever: GPUs cannot reach each other although the driver says so, as with PCIe "
    "access control (ACS) or an IOMMU that translates",
    "Try NCCL_P2P_DISABLE=1; if that helps, set iommu=pt and switch ACS off in the firmware (nccl#257, nccl#2079)",
    likely=True,
)


def has_backend(bench: Bench) -> str | None:
    """Gate: torch has the process group backend of this device."""
    dist = bench.module("torch.distributed")
    if not dist.is_available():
        return "this torch is built without torch.distributed; a build that has it runs this"
    names = {"cuda": "nccl", "xpu": "xccl", "cpu": "gloo"}
    name = names[bench.type]
    known = getattr(dist, f"is_{name}_available", None)
    if known is None or not known():
        return f"this torch is built without {name}; a build that has it runs this"
    return None
