"""Memory that a process may lock, which RDMA needs."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="memlock-limit",
    group="multi-gpu",
    title="A process may lock enough memory",
    why=(
        "NCCL registers buffers with the network card, and registered memory is locked. Over the limit NCCL says `Call to "
        "ibv_reg_mr failed` or `unhandled system error`. Within one machine it does not matter."
    ),
    sources=("https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",),
)

_SMALL = 64 << 20


def look(facts: Facts) -> Iterator[Result]:
    limit = facts.system.memlock_limit
    if len(facts.gpus) < 2 or facts.system.os != "linux" or limit is None:
        return
    if 0 <= limit <= _SMALL:
        yield note(
            f"A process may lock {limit / 2**20:g} MiB of memory, too little for NCCL over InfiniBand or RoCE",
            evidence=(Evidence("locked memory", f"{limit} bytes", needed="unlimited", source="RLIMIT_MEMLOCK"),),
            remedy=_remedy(facts),
            link="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
        )
    else:
        yield ok("A process may lock enough memory")


def _remedy(facts: Facts) -> Remedy:
    kind = facts.system.container
    if kind in ("docker", "podman"):
        return Remedy("Start the container anew without the limit", f"{kind} run --ulimit memlock=-1 IMAGE")
    return Remedy("Set `* - memlock unlimited` in /etc/security/limits.conf, or LimitMEMLOCK=infinity for a service")
