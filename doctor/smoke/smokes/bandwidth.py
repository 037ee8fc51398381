"""How fast the device's memory is."""

from __future__ import annotations

from ..bench import Bench
from ..memory import free_memory
from ..smoke import Measurement, Skip, Smoke
from ..timing import median_seconds

SMOKE = Smoke(
    id="bandwidth",
    tier="full",
    title="Memory bandwidth, against the datasheet of the card",
    reference="the card's datasheet, where torchlift has it: below 50 % is said, below 20 % fails",
    kinds=("cuda", "rocm", "xpu", "mps", "cpu"),
    loads=True,
    guessed="The floors of 50 % and 20 % are guesses",
)

_LARGEST, _SMALLEST, _CPU = 1 << 30, 64 << 20, 64 << 20


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    size = _CPU if bench.kind == "cpu" else min(_LARGEST, int(bench.facts.get("memory") or _LARGEST) // 8)
    free = free_memory(bench)
    if free is not None:
        # Two blocks, and room for whoever else works on the device.
        size = min(size, free // 4)
        if size < _SMALLEST:
            raise Skip(f"only {free >> 20} MiB of the device's memory are free; it runs with {4 * _SMALLEST >> 20} MiB")
    source = torch.ones(size // 4, device=bench.name)
    target = torch.empty_like(source)
    timed = median_seconds(bench, lambda: target.copy_(source), repeat=3 if bench.kind == "cpu" else 20)
    # Every byte is read once and written once.
    rate = 2 * source.numel() * 4 / timed.seconds
    return Measurement(None, None, {"rate": rate, "bytes": size, **timed._asdict()})
