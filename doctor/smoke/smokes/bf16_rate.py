"""How fast matrix products in bf16 are."""

from __future__ import annotations

from ..bench import Bench
from ..gates import capability_from
from ..smoke import Measurement, Smoke
from ..timing import median_seconds

SMOKE = Smoke(
    id="bf16-rate",
    tier="full",
    title="Rate of bf16 matrix products, against the datasheet of the card",
    gate=capability_from(8, 0),
    needs="compute capability 8.0",
    reference="the card's datasheet, where torchlift has it: below 50 % is said, below 20 % fails",
    kinds=("cuda", "rocm", "xpu", "cpu"),
    loads=True,
    guessed="The floors of 50 % and 20 % are guesses",
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    size = 512 if bench.kind == "cpu" else 8192
    a = bench.random(size, size, dtype=torch.bfloat16) if bench.kind == "cpu" else None
    a = torch.randn(size, size, device=bench.name, dtype=torch.bfloat16) if a is None else a
    out = torch.empty_like(a)
    timed = median_seconds(bench, lambda: torch.mm(a, a, out=out), repeat=3 if bench.kind == "cpu" else 10)
    return Measurement(None, None, {"rate": 2 * size**3 / timed.seconds, "size": size, **timed._asdict()})
