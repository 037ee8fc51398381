"""Peer-to-peer access between GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note, ok, warning
from torchlift.doctor.facts import Facts, PeerLink
from torchlift.doctor.remedies.host import at_the_host

CHECK = Check(
    id="peer-access",
    group="multi-gpu",
    title="GPUs reach each other's memory directly",
    why=(
        "Without peer-to-peer access (GeForce cards, other CPU sockets, some boards) NCCL copies through the host's memory, "
        "which is slower but works. If NCCL hangs although access is reported as ok, PCIe access control (ACS) or the IOMMU "
        "is in the way: `NCCL_P2P_DISABLE=1` tells."
    ),
    sources=(
        "https://github.com/NVIDIA/nccl/issues/2079",
        "https://github.com/NVIDIA/nccl/issues/257",
        "https://github.com/NVIDIA/nccl-tests/issues/117",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    judged = [link for link in facts.peers if "unknown" not in (link.read, link.write)]
    without = [link for link in judged if (link.read, link.write) != ("ok", "ok")]
    switched_off = [link for link in without if "disabled-by-regkey" in (link.read, link.write)]
    if switched_off:
        yield warning(
            f"Peer-to-peer access is switched off in the driver's options for {_pairs(switched_off)}",
            evidence=tuple(_evidence(link) for link in switched_off[:8]),
            remedy=at_the_host(facts, "Take the option out again, then restart", "grep -rn NVreg /etc/modprobe.d"),
        )
    elif without:
        share = "no pair" if len(without) == len(judged) else f"not {_pairs(without)}"
        yield note(
            f"GPUs cannot reach each other's memory directly ({share}), so NCCL goes through the host's",
            evidence=tuple(_evidence(link) for link in without[:8]),
        )
    elif judged:
        yield ok("Every GPU reaches every other's memory directly")


def _pairs(links: list[PeerLink]) -> str:
    pairs = sorted({(min(link.source, link.target), max(link.source, link.target)) for link in links})
    shown = ", ".join(f"{one}-{other}" for one, other in pairs[:6])
    return shown + (f" and {len(pairs) - 6} more" if len(pairs) > 6 else "")


def _evidence(link: PeerLink) -> Evidence:
    return Evidence(
        f"GPU {link.source} to {link.target}", f"read {link.read}, write {link.write}", needed="ok", source="NVML"
    )
