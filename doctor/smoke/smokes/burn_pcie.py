"""The way between the host's memory and the device's."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..smoke import Measurement, Smoke
from ..sustained import sustained

SMOKE = Smoke(
    id="burn-pcie",
    tier="burn",
    title="Pinned memory reaches the device and comes back at the rate of the PCIe link",
    needs="nothing",
    reference="the generation and width that the link has while it runs; the same bytes",
    limits=(("there and back", 0.0),),
    kinds=("cuda", "rocm", "xpu"),
    timeout=120.0,
    loads=True,
    lasts=0.15,
    # GPUs share switches and the host's memory.
    alone=True,
    guessed="The floors of 60 % and 25 % of the link are guesses",
)

_BYTES, _CPU = 256 << 20, 4 << 20


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    size = _CPU if bench.kind == "cpu" else _BYTES
    here, back = _pinned(bench, size), _pinned(bench, size)
    here.copy_(torch.arange(size // 8, dtype=torch.int64).view(torch.uint8))
    there = torch.empty(size, dtype=torch.uint8, device=bench.name)
    out = torch.zeros(size, dtype=torch.uint8, device=bench.name)
    seconds = bench.seconds * SMOKE.lasts / 3
    rates: dict[str, Any] = {}

    def rate(name: str, amount: float, work: Any) -> None:
        rates[name] = {**sustained(bench, work, amount=amount, seconds=seconds).told(), "unit": "B/s"}

    rate("host to device", size, lambda: there.copy_(here, non_blocking=True))
    rate("device to host", size, lambda: back.copy_(there, non_blocking=True))
    bench.exact("there and back", back, here)
    both = _both_ways(bench, there, here, back, out)
    if both is not None:
        rate("both ways", 2 * size, both)
    return bench.measurement(rates=rates, seconds=bench.seconds)


def _pinned(bench: Bench, size: int) -> Any:
    memory = bench.torch.empty(size, dtype=bench.torch.uint8)
    return memory if bench.kind == "cpu" else memory.pin_memory()


def _both_ways(bench: Bench, there: Any, here: Any, back: Any, out: Any) -> Any:
    """Copies both ways at once, on two streams. Waiting for the device waits for both."""
    module = getattr(bench.torch, bench.type)
    if not hasattr(module, "Stream") or bench.kind == "cpu":
        return None
    up, down = module.Stream(bench.name), module.Stream(bench.name)

    def work() -> None:
        with module.stream(up):
            there.copy_(here, non_blocking=True)
        with module.stream(down):
            back.copy_(out, non_blocking=True)

    return work
