"""How fast every GPU copies to every other."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..gates import devices_from
from ..smoke import Measurement, Smoke
from ..sustained import sustained

SMOKE = Smoke(
    id="burn-peers",
    tier="burn",
    title="Every pair of GPUs copies at the rate of its kind (NVLink, or through PCIe)",
    gate=devices_from(2),
    needs="two devices",
    reference="the other pairs of the same kind, and NVLink's rate in the card's datasheet",
    limits=(("first to last and back", 0.0),),
    kinds=("cuda", "rocm"),
    # 16 GPUs make 240 pairs of half a second each.
    timeout=300.0,
    once=True,
    alone=True,
    loads=True,
    guessed="Half of what the other pairs reach is a guess: it was not measured yet",
)

_BYTES = 256 << 20
_SECONDS, _WINDOW = 0.2, 0.05


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    count = int(bench.facts["count"])
    names = [f"cuda:{index}" for index in range(count)]
    pattern = torch.arange(_BYTES // 8, dtype=torch.int64).view(torch.uint8)
    sources = [pattern.to(name) for name in names]
    targets = [torch.empty_like(source) for source in sources]
    pairs: list[dict[str, Any]] = []
    for source in range(count):
        for target in range(count):
            if source == target:
                continue
            pairs.append(_pair(bench, sources, targets, source, target))
    bench.exact("first to last and back", targets[0], pattern)
    return bench.measurement(pairs=pairs)


def _pair(bench: Bench, sources: list[Any], targets: list[Any], source: int, target: int) -> dict[str, Any]:
    """One way. torch copies on the source's stream, and makes the target's wait (aten/src/ATen/native/cuda/Copy.cu,
    `copy_device_to_device`, torch 2.13), so the source is waited for."""
    cuda = bench.torch.cuda
    with cuda.device(source):
        course = sustained(
            bench,
            lambda: targets[target].copy_(sources[source], non_blocking=True),
            amount=_BYTES,
            seconds=_SECONDS,
            window=_WINDOW,
        )
    cuda.synchronize(target)
    direct = bool(cuda.can_device_access_peer(source, target))
    return {"source": source, "target": target, "rate": course.kept_up, "direct": direct}
