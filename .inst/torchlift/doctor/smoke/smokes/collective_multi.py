"""All devices of the machine in one process group."""

from __future__ import annotations

from ..bench import Bench
from ..distributed import HANG, has_backend
from ..gates import all_of, devices_from, forks
from ..ranks import join_group, run_ranks
from ..smoke import Measurement, Smoke

SMOKE = Smoke(
    id="collective-multi",
    tier="default",
    title="all_reduce over all devices of the machine (two ranks on the CPU)",
    gate=all_of(has_backend, devices_from(2), forks),
    needs="two devices; the backend in this torch; Linux",
    reference="the sum of small integers, exactly",
    limits=(("all_reduce, every rank", 0.0),),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(HANG,),
    timeout=90.0,
    once=True,
)

_SECONDS = 60.0


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    world = 2 if bench.kind == "cpu" else int(bench.facts["count"])

    def work(rank: int, world: int, meeting: str) -> float:
        dist, device = join_group(bench, rank, world, meeting, _SECONDS)
        x = torch.arange(1 << 16, dtype=torch.float32).remainder(997).to(device) * (rank + 1)
        dist.all_reduce(x)
        want = torch.arange(1 << 16, dtype=torch.float32).remainder(997) * (world * (world + 1) // 2)
        different = int((x.cpu() != want).sum())
        dist.barrier()
        dist.destroy_process_group()
        return different / int(want.numel())

    for rank, error in enumerate(run_ranks(work, world, _SECONDS)):
        bench.measured(f"all_reduce, rank {rank}", error, 0.0)
    return bench.measurement(ranks=world)
