"""Bus bandwidth of all_reduce over all devices of the machine."""

from __future__ import annotations

import time
from typing import Any

from ..bench import Bench
from ..distributed import HANG, has_backend
from ..gates import all_of, devices_from, forks
from ..ranks import join_group, run_ranks
from ..smoke import Measurement, Smoke

SMOKE = Smoke(
    id="burn-collectives",
    tier="burn",
    title="all_reduce over all devices of the machine, at the rate of their links (two ranks on the CPU)",
    gate=all_of(has_backend, devices_from(2), forks),
    needs="two devices; the backend in this torch; Linux",
    reference="the sum, exactly; NVLink's rate in the card's datasheet where all GPUs are behind NVSwitch",
    limits=(("all_reduce, every rank", 0.0),),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(HANG,),
    timeout=240.0,
    once=True,
    alone=True,
    loads=True,
    guessed="The floor of 40 % of NVLink's rate is a guess: it was not measured yet",
)

_SECONDS = 180.0
_SIZES, _CPU_SIZES = (16 << 20, 128 << 20, 1 << 30), (1 << 20, 4 << 20)
_REPEAT, _ROUNDS = 5, 3


def run(bench: Bench) -> Measurement:
    world = 2 if bench.kind == "cpu" else int(bench.facts["count"])
    sizes = _CPU_SIZES if bench.kind == "cpu" else _SIZES

    def work(rank: int, world: int, meeting: str) -> dict[str, Any]:
        dist, device = join_group(bench, rank, world, meeting, _SECONDS)
        wrong = 0.0
        rates = {}
        for size in sizes:
            seconds, different = all_reduce_seconds(bench.torch, dist, device, world, size)
            wrong = max(wrong, different)
            rates[str(size)] = bus_bandwidth(size, world, seconds)
        dist.barrier()
        dist.destroy_process_group()
        return {"wrong": wrong, "rates": rates}

    found = run_ranks(work, world, _SECONDS)
    for rank, answer in enumerate(found):
        bench.measured(f"all_reduce, rank {rank}", answer["wrong"], 0.0)
    # All ranks end together: the slowest has the time of all.
    by_size = {size: min(answer["rates"][str(size)] for answer in found) for size in sizes}
    best = max(by_size.values())
    rates = {"all_reduce bus bandwidth": {"rate": best, "unit": "B/s"}}
    return bench.measurement(rates=rates, ranks=world, by_size={str(size): rate for size, rate in by_size.items()})


def all_reduce_seconds(torch: Any, dist: Any, device: str, world: int, size: int) -> tuple[float, float]:
    """Seconds of one all_reduce of `size` bytes, the best of some rounds, and the share of wrong numbers."""
    values = torch.ones(size // 4, device=device)
    dist.all_reduce(values)
    wrong = float((values != world).double().mean())
    values.zero_()
    best = float("inf")
    for _ in range(_ROUNDS):
        dist.barrier()
        _wait(torch, device)
        started = time.perf_counter()
        for _ in range(_REPEAT):
            dist.all_reduce(values)
        _wait(torch, device)
        best = min(best, (time.perf_counter() - started) / _REPEAT)
    return best, wrong


def bus_bandwidth(size: int, world: int, seconds: float) -> float:
    """Bytes a second over the slowest link: what nccl-tests call "busbw" (doc/PERFORMANCE.md there): an all_reduce moves
    every byte 2 (n - 1) / n times."""
    return size / seconds * 2 * (world - 1) / world


def _wait(torch: Any, device: str) -> None:
    kind = device.partition(":")[0]
    if kind != "cpu":
        getattr(torch, kind).synchronize()
