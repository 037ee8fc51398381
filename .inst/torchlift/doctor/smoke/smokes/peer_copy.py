"""Every pair of GPUs copies to each other, both ways."""

from __future__ import annotations

from ..bench import Bench
from ..gates import devices_from
from ..smoke import Measurement, Signature, Smoke

_BYTES = 8 << 20
_CORRUPT = Signature(
    "peer-copy-corrupt",
    r"wrong numbers",
    "Copies between GPUs arrive changed: an IOMMU that translates, or PCIe access control (ACS), is between them",
    "Boot with iommu=pt and switch ACS off in the firmware; until then set NCCL_P2P_DISABLE=1",
    likely=True,
)

SMOKE = Smoke(
    id="peer-copy",
    tier="default",
    title="Every pair of GPUs copies to each other without harm",
    gate=devices_from(2),
    needs="two devices",
    reference="the same bytes",
    limits=(("every pair", 0.0),),
    kinds=("cuda", "rocm"),
    signatures=(_CORRUPT,),
    once=True,
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    generator = torch.Generator().manual_seed(1)
    pattern = torch.randint(0, 256, (_BYTES,), generator=generator, dtype=torch.uint8)
    count = int(bench.facts["count"])
    direct = []
    for source in range(count):
        here = pattern.to(f"cuda:{source}")
        for target in range(count):
            if source == target:
                continue
            there = here.to(f"cuda:{target}")
            torch.cuda.synchronize(source)
            torch.cuda.synchronize(target)
            bench.exact(f"{source} to {target}", there, pattern)
            if torch.cuda.can_device_access_peer(target, source):
                direct.append(f"{source} to {target}")
    return bench.measurement(peer_access=direct)
