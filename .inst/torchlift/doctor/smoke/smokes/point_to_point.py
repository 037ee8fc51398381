"""Ranks in a ring send to each other at once, as the eager "nccl" of torch 2.15 wants it."""

from __future__ import annotations

from ..bench import Bench
from ..distributed import HANG, has_backend
from ..gates import all_of, devices_from, forks
from ..ranks import join_group, run_ranks
from ..smoke import Measurement, Smoke

SMOKE = Smoke(
    id="point-to-point",
    tier="default",
    title="Ranks in a ring send to each other (batch_isend_irecv, device_id given)",
    gate=all_of(has_backend, devices_from(2), forks),
    needs="two devices; the backend in this torch; Linux",
    reference="what the neighbour sent, exactly",
    limits=(("received, every rank", 0.0),),
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
        send = torch.full((1 << 16,), float(rank), device=device)
        receive = torch.full_like(send, -1.0)
        after, before = (rank + 1) % world, (rank - 1) % world
        # One batch: with one communicator for the group, a send alone would wait for its turn for ever.
        batch = [dist.P2POp(dist.isend, send, after), dist.P2POp(dist.irecv, receive, before)]
        for each in dist.batch_isend_irecv(batch):
            each.wait()
        different = int((receive.cpu() != float(before)).sum())
        dist.barrier()
        dist.destroy_process_group()
        return different / int(send.numel())

    for rank, error in enumerate(run_ranks(work, world, _SECONDS)):
        bench.measured(f"received, rank {rank}", error, 0.0)
    return bench.measurement(ranks=world)
