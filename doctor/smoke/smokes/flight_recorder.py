"""What collectives did, as the flight recorder keeps it for whoever looks after a hang."""

from __future__ import annotations

import os
import pickle
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..bench import Bench
from ..distributed import HANG, has_backend
from ..gates import all_of, torch_from
from ..ranks import join_group
from ..smoke import Measurement, Smoke

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOM = "100"

SMOKE = Smoke(
    id="flight-recorder",
    tier="full",
    title="The flight recorder keeps what collectives did (NCCL on NVIDIA and AMD GPUs, gloo on the CPU)",
    needs="torch 2.5, on the CPU a torch whose gloo has one (2.9); the backend in this torch",
    reference="the collective that was called, with its sizes",
    limits=(("entries that are missing", 0.0),),
    kinds=("cuda", "rocm", "cpu"),
    signatures=(HANG,),
)


def _recorders(bench: Bench) -> list[Callable[[], bytes]]:
    """What may have kept a collective of this device's backend.

    NCCL has a recorder of its own (`_dump_nccl_trace`). The others share one, which 2.15.0 keeps by backend
    (`_dump_fr_trace` in torch/_C/_distributed_c10d.pyi, lines 1244 to 1249, and `_maybe_attach_flight_recorder` in
    torch/distributed/distributed_c10d.py, line 2886 and the following); 2.13.0 has no such parameter.
    """
    c10d = bench.module("torch._C._distributed_c10d")
    own, shared = getattr(c10d, "_dump_nccl_trace", None), getattr(c10d, "_dump_fr_trace", None)
    if bench.kind == "cpu":
        return [shared] if shared else []
    found = [own] if own else []
    return [*found, partial(shared, backend="nccl")] if shared and bench.version >= (2, 15) else found


def _has_recorder(bench: Bench) -> str | None:
    if _recorders(bench):
        return None
    return f"torch {bench.torch.__version__} has no flight recorder for this backend; gloo's came with torch 2.9"


gate = all_of(torch_from(2, 5), has_backend, _has_recorder)


def run(bench: Bench) -> Measurement:
    # The old name too: torch before 2.9 knows no other.
    os.environ["TORCH_FR_BUFFER_SIZE"] = os.environ["TORCH_NCCL_TRACE_BUFFER_SIZE"] = _ROOM
    with tempfile.TemporaryDirectory(prefix="torchlift-group-") as folder:
        meeting = Path(folder, "meeting").as_uri()
        dist, device = join_group(bench, 0, 1, meeting, 30.0, index=bench.index)
        dist.all_reduce(bench.random(128).to(device))
        bench.synchronize()
        entries = [entry for dump in _recorders(bench) for entry in pickle.loads(dump()).get("entries", [])]
        dist.destroy_process_group()
    seen = [
        each for each in entries if "all_reduce" in str(each.get("profiling_name")) and [128] in each["input_sizes"]
    ]
    bench.measured("entries that are missing", float(not seen), 0.0)
    return bench.measurement(entries=len(entries))
