"""What collectives did, as the flight recorder keeps it for whoever looks after a hang."""

from __future__ import annotations

import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

from ..bench import Bench
from ..distributed import HANG, has_backend
from ..gates import all_of, torch_from
from ..ranks import join_group
from ..smoke import Measurement, Smoke

_ROOM = "100"


def _dump(bench: Bench) -> Any:
    # Two names in 2.13.0 and 2.15.0: each backend has a recorder of its own (libtorch_python.so of the wheels).
    name = "_dump_nccl_trace" if bench.kind in ("cuda", "rocm") else "_dump_fr_trace"
    return getattr(bench.module("torch._C._distributed_c10d"), name, None)


def _has_recorder(bench: Bench) -> str | None:
    if _dump(bench) is not None:
        return None
    return f"torch {bench.torch.__version__} has no flight recorder for this backend; gloo's came with torch 2.9"


SMOKE = Smoke(
    id="flight-recorder",
    tier="full",
    title="The flight recorder keeps what collectives did (NCCL on NVIDIA and AMD GPUs, gloo on the CPU)",
    gate=all_of(torch_from(2, 5), has_backend, _has_recorder),
    needs="torch 2.5, on the CPU a torch whose gloo has one (2.9); the backend in this torch",
    reference="the collective that was called, with its sizes",
    limits=(("entries that are missing", 0.0),),
    kinds=("cuda", "rocm", "cpu"),
    signatures=(HANG,),
)


def run(bench: Bench) -> Measurement:
    # The old name too: torch before 2.9 knows no other.
    os.environ["TORCH_FR_BUFFER_SIZE"] = os.environ["TORCH_NCCL_TRACE_BUFFER_SIZE"] = _ROOM
    with tempfile.TemporaryDirectory(prefix="torchlift-group-") as folder:
        meeting = Path(folder, "meeting").as_uri()
        dist, device = join_group(bench, 0, 1, meeting, 30.0, index=bench.index)
        dist.all_reduce(bench.random(128).to(device))
        bench.synchronize()
        entries = pickle.loads(_dump(bench)()).get("entries", [])
        dist.destroy_process_group()
    seen = [
        each for each in entries if "all_reduce" in str(each.get("profiling_name")) and [128] in each["input_sizes"]
    ]
    bench.measured("entries that are missing", float(not seen), 0.0)
    return bench.measurement(entries=len(entries))
