"""Which NCCL engine torch.distributed uses."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note, ok
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.facts import Facts

_SOURCE = "torch/distributed/distributed_c10d.py of torch 2.14.1 and 2.15.0"

CHECK = Check(
    id="nccl-engine",
    group="environment",
    title="torch.distributed uses its release's NCCL engine",
    why=(
        "Since torch 2.15 the backend `nccl` is a new engine that makes its communicator at once and one for each group. A "
        "switch back that was set during an upgrade is easily forgotten, and ranks that differ in it do not work together."
    ),
    sources=(_SOURCE, "https://github.com/pytorch/pytorch/pull/192281"),
)


def look(facts: Facts) -> Iterator[Result]:
    torch = facts.torch
    release = torch_build(torch).release if torch is not None and torch.cuda is not None else None
    if release is None or release < (2, 14) or facts.system.os != "linux":
        return
    value = facts.environment.get("TORCH_DIST_USE_NCCL2")
    evidence = Evidence("TORCH_DIST_USE_NCCL2", value or "unset", needed="unset", source=_SOURCE)
    if release >= (2, 15) and value == "0":
        yield note(
            "TORCH_DIST_USE_NCCL2=0 brings back the NCCL engine from before torch 2.15",
            evidence=(evidence,),
            confidence="table",
        )
    elif release == (2, 14) and value == "1":
        yield note(
            "TORCH_DIST_USE_NCCL2=1 turns on the NCCL engine that is the default from torch 2.15 on",
            evidence=(evidence,),
            confidence="table",
        )
    else:
        yield ok("torch.distributed uses this release's own NCCL engine", evidence=(evidence,), confidence="table")
