"""Adagrad in one kernel, which torch 2.12 brought to GPUs."""

from __future__ import annotations

from ..bench import Bench
from ..gates import all_of, torch_from
from ..optimizers import limits, run_fused
from ..smoke import Measurement, Smoke

SMOKE = Smoke(
    id="fused-adagrad",
    tier="default",
    title="Adagrad(fused=True) takes the right steps",
    needs="torch 2.5 on the CPU, 2.12 on GPUs",
    limits=limits(),
    kinds=("cuda", "rocm", "cpu"),
)


def _gpu_release(bench: Bench) -> str | None:
    return None if bench.kind == "cpu" else torch_from(2, 12)(bench)


def run(bench: Bench) -> Measurement:
    return run_fused(bench, "Adagrad", weight_decay=0.01, lr_decay=0.001)


gate = all_of(torch_from(2, 5), _gpu_release)
