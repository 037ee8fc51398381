"""Several ranks on this machine, each a fork: for smokes of torch.distributed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench

_AFTER_A_FAILURE = 5.0
_NAP = 0.01


def run_ranks(work: Callable[[int, int, str], Any], world: int, timeout: float) -> list[Any]:
    """Call `work(rank, world, init_method)` in `world` forks at once; their results, which must go through JSON.

    Must be called before this process touches a device. `init_method` is a file that the ranks meet at.

    Raises:
        RuntimeError: if a rank fails, dies or is not done in time; the message says which and why.
    """
    with tempfile.TemporaryDirectory(prefix="torchlift-ranks-") as folder:
        meeting = Path(folder, "meeting").as_uri()
        ranks = {_start(work, rank, world, meeting, folder): rank for rank in range(world)}
        running, died = set(ranks), {}
        deadline = time.monotonic() + timeout
        while running and time.monotonic() < deadline:
            for child in tuple(running):
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    running.discard(child)
                    if status:
                        died[ranks[child]] = status
                        deadline = min(deadline, time.monotonic() + _AFTER_A_FAILURE)
            time.sleep(_NAP)
        for child in running:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        late = sorted(ranks[child] for child in running)
        answers = [_answer(folder, rank) for rank in range(world)]
    for rank, answer in enumerate(answers):
        if "error" in answer:
            raise RuntimeError(f"rank {rank} of {world}: {answer['error']}")
    for rank, status in died.items():
        how = f"was killed by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "ended without a result"
        raise RuntimeError(f"rank {rank} of {world} {how}")
    if late:
        raise RuntimeError(f"ranks {late} of {world} were not done within {timeout:g} s: they wait for each other")
    return [answer["value"] for answer in answers]


def join_group(
    bench: Bench, rank: int, world: int, meeting: str, seconds: float, *, index: int | None = None
) -> tuple[Any, str]:
    """Make the default process group as a program for torch 2.15 does; returns torch.distributed and the device.

    The device is given when the group is made (torch 2.3 and newer), so that "nccl" connects there and then, and it is
    made the current one. It is the one with the rank's number, unless `index` says another.
    """
    torch, dist = bench.torch, bench.module("torch.distributed")
    backends = {"cuda": "nccl", "xpu": "xccl", "cpu": "gloo"}
    number = rank if index is None else index
    device = "cpu" if bench.type == "cpu" else f"{bench.type}:{number}"
    options: dict[str, Any] = {}
    if bench.type == "cpu":
        if sys.platform == "linux":
            os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    else:
        getattr(torch, bench.type).set_device(number)
        if bench.version >= (2, 3):
            options["device_id"] = torch.device(device)
    from datetime import timedelta

    dist.init_process_group(
        backends[bench.type],
        init_method=meeting,
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=seconds),
        **options,
    )
    return dist, device


def _start(work: Callable[[int, int, str], Any], rank: int, world: int, meeting: str, folder: str) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        answer = {"value": work(rank, world, meeting)}
        code = 0
    except BaseException as error:
        traceback.print_exc()
        answer = {"error": f"{type(error).__name__}: {error}"}
    try:
        Path(folder, f"rank{rank}").write_text(json.dumps(answer), encoding="utf-8")
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _answer(folder: str, rank: int) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(Path(folder, f"rank{rank}").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found
