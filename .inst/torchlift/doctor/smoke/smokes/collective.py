"""A process group of one rank: the library loads, connects and computes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..bench import Bench
from ..distributed import HANG, has_backend
from ..ranks import join_group
from ..smoke import Measurement, Smoke

SMOKE = Smoke(
    id="collective",
    tier="default",
    title="A process group of one rank connects and reduces (NCCL on NVIDIA GPUs, gloo on the CPU)",
    gate=has_backend,
    needs="the backend in this torch (nccl: Linux)",
    reference="the input, exactly",
    limits=(("all_reduce", 0.0), ("all_gather", 0.0)),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(HANG,),
)


def run(bench: Bench) -> Measurement:
    with tempfile.TemporaryDirectory(prefix="torchlift-group-") as folder:
        meeting = Path(folder, "meeting").as_uri()
        dist, device = join_group(bench, 0, 1, meeting, 30.0, index=bench.index)
        x = bench.random(1 << 16)
        there = x.to(device)
        dist.all_reduce(there)
        bench.synchronize()
        bench.exact("all_reduce", there, x)
        gathered = [bench.torch.empty_like(there)]
        dist.all_gather(gathered, there)
        bench.synchronize()
        bench.exact("all_gather", gathered[0], x)
        dist.destroy_process_group()
    return bench.measurement()
