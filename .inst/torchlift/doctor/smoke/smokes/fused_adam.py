"""Adam in one kernel."""

from __future__ import annotations

from ..bench import Bench
from ..gates import torch_from_on_cpu
from ..optimizers import limits, run_fused
from ..smoke import Measurement, Smoke

SMOKE = Smoke(
    id="fused-adam",
    tier="default",
    title="Adam(fused=True) takes the right steps",
    gate=torch_from_on_cpu(2, 4),
    needs="on the CPU torch 2.4",
    limits=limits(),
    kinds=("cuda", "rocm", "xpu", "cpu"),
)


def run(bench: Bench) -> Measurement:
    return run_fused(bench, "Adam", weight_decay=0.01)
