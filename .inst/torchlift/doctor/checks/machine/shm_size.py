"""Shared memory for data loaders and NCCL."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="shm-size",
    group="machine",
    title="There is enough shared memory",
    why=(
        "DataLoader workers hand tensors over in /dev/shm, NCCL uses it between GPUs. Docker gives 64 MiB. When it is full: "
        "`Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)`, or NCCL's "
        "`unhandled system error`."
    ),
    sources=(
        "https://github.com/pytorch/pytorch#using-pre-built-images",
        "DeepSpeed's environment report warns below the same order of size",
        "https://github.com/pytorch/pytorch/issues/26009",
    ),
)

_ENOUGH = 1 << 30


def look(facts: Facts) -> Iterator[Result]:
    total, free = facts.system.shm_total, facts.system.shm_free
    if facts.system.os != "linux" or total is None or total <= 0:
        return
    seen = Evidence("size of /dev/shm", _mib(total), needed="1 GiB or more", source="statvfs")
    if total < _ENOUGH:
        yield warning(
            f"/dev/shm has {_mib(total)}, which data loaders with workers and NCCL soon fill",
            evidence=(seen,),
            remedy=_remedy(facts),
            link="https://github.com/pytorch/pytorch#using-pre-built-images",
        )
    elif free is not None and 0 <= free < _ENOUGH // 4:
        yield warning(
            f"/dev/shm is nearly full: {_mib(free)} of {_mib(total)} are free",
            evidence=(Evidence("free in /dev/shm", _mib(free), needed="256 MiB or more", source="statvfs"),),
            remedy=Remedy(
                "See what lies there; programs that were killed leave files named torch_*", "ls -lhS /dev/shm"
            ),
        )
    else:
        yield ok(f"/dev/shm has {_mib(total)}")


def _mib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 1 << 30 else f"{size / 2**20:.0f} MiB"


def _remedy(facts: Facts) -> Remedy:
    kind = facts.system.container
    if kind == "kubernetes":
        return Remedy("Mount an `emptyDir: {medium: Memory}` volume at /dev/shm in the pod's specification")
    if kind in ("docker", "podman"):
        return Remedy("Start the container anew with more", f"{kind} run --shm-size=8g IMAGE")
    return Remedy("Enlarge it", "sudo mount -o remount,size=8G /dev/shm")
