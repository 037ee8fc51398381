"""One rank of a program in its process, and the process in which the ranks meet."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from torchlift.lazy_dataclass import dataclass
from torchlift.testing.job import Emit
from torchlift.testing.nodes import Raised
from torchlift.testing.program_job import ProgramResult, ProgramTask, run_program_task

_LOOPBACK = "127.0.0.1"
_PAUSE = 0.003


@dataclass(frozen=True)
class RankTask:
    """One rank.

    Attributes:
        program: what it runs.
        rank: its number.
        ranks: how many there are.
        meeting: folder that the ranks and the process of `host_ranks` share: the port is told there, and who has ended.
    """

    program: ProgramTask
    rank: int
    ranks: int
    meeting: str


def run_rank_task(task: RankTask, emit: Emit) -> None:
    """Emits one `ProgramResult`. A rank whose program succeeded stays connected until all programs have ended.

    Otherwise what the others see would depend on how fast this one leaves.
    """
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1)
    os.environ.update(_environment(task.rank, task.ranks, _port(Path(task.meeting))))
    failed = False

    def passed_on(record: Any) -> None:
        nonlocal failed
        failed = isinstance(record, ProgramResult) and isinstance(record.result, Raised)
        emit(record)

    run_program_task(task.program, passed_on)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    _ended(task, task.rank).touch()
    if not failed:
        _wait_until_all_ended(task)


def host_ranks(task: RankTask, emit: Emit) -> None:
    """Holds the store in which the ranks find each other, as `torchrun` does, until all have ended.

    The system picks the port while the store takes it, so that no two groups can want the same one.
    """
    from torch.distributed import TCPStore  # type: ignore[attr-defined]

    # Left alone, the store would listen on all interfaces, and on IPv6, for whose addresses no /etc/hosts has names.
    listening = socket.create_server((_LOOPBACK, 0))
    port = listening.getsockname()[1]
    store = TCPStore(
        _LOOPBACK, port, is_master=True, wait_for_workers=False, master_listen_fd=os.dup(listening.fileno())
    )
    meeting = Path(task.meeting)
    unfinished = meeting / "port.new"
    unfinished.write_text(str(port))
    unfinished.replace(meeting / "port")
    _wait_until_all_ended(task)
    del store


def _environment(rank: int, ranks: int, port: int) -> dict[str, str]:
    """What `torchrun --standalone --nproc-per-node N` sets (torch 2.13.0), everything on the loopback interface."""
    environment = {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "ROLE_RANK": str(rank),
        "GROUP_RANK": "0",
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "ROLE_WORLD_SIZE": str(ranks),
        "GROUP_WORLD_SIZE": "1",
        "ROLE_NAME": "default",
        "MASTER_ADDR": _LOOPBACK,
        "MASTER_PORT": str(port),
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_MAX_RESTARTS": "0",
        "TORCHELASTIC_RUN_ID": "torchlift",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "OMP_NUM_THREADS": "1",
        # torch looks up a name for every address it connects to: nothing here may wait long for a name server.
        "RES_OPTIONS": "timeout:1 attempts:1",
    }
    loopback = {"linux": "lo", "darwin": "lo0"}.get(sys.platform)
    return environment | ({"GLOO_SOCKET_IFNAME": loopback} if loopback else {})


def _port(meeting: Path) -> int:
    while True:
        with contextlib.suppress(FileNotFoundError):
            return int((meeting / "port").read_text())
        time.sleep(_PAUSE)


def ended_at(task: RankTask) -> int:
    """When a rank said that its program had ended, in nanoseconds of a clock that all ranks share; 0 if it did not."""
    with contextlib.suppress(FileNotFoundError):
        return _ended(task, task.rank).stat().st_mtime_ns
    return 0


def _ended(task: RankTask, rank: int) -> Path:
    return Path(task.meeting, f"ended {rank}")


def _wait_until_all_ended(task: RankTask) -> None:
    missing = [_ended(task, rank) for rank in range(task.ranks)]
    while missing := [path for path in missing if not path.exists()]:
        time.sleep(_PAUSE)
