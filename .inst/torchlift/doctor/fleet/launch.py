"""Which rank of which job this process is, from the variables that launchers set."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torchlift.lazy_dataclass import dataclass

_DEFAULT_PORT = 29500
"""torchrun's own default for MASTER_PORT."""


class LaunchError(ValueError):
    """The launcher's variables make no sense; the text is a sentence that names them."""


@dataclass(frozen=True)
class Launch:
    """This process among all of its job.

    Attributes:
        rank: from 0 to `world_size` - 1.
        world_size: number of processes.
        local_rank: its number on its machine.
        local_size: number of processes on its machine.
        host: where rank 0 listens.
        port: on which port.
        launcher: "torchrun", "srun" or "environment".
        store_is_up: the launcher itself serves a store there (torchrun's agent does), so nobody has to.
        run: tells this start of the job from earlier ones that used the same store.
    """

    rank: int
    world_size: int
    local_rank: int
    local_size: int
    host: str
    port: int
    launcher: str
    store_is_up: bool = False
    run: str = ""


def launched(environment: Mapping[str, str]) -> Launch | None:
    """What torchrun or srun started this process as; None for a process of its own.

    RANK and WORLD_SIZE alone are not taken for a launch: containers of training jobs have them set in every shell.
    Raises `LaunchError` when the variables of a launcher do not fit together.
    """
    if "TORCHELASTIC_RUN_ID" in environment:
        agent_store = environment.get("TORCHELASTIC_USE_AGENT_STORE", "").lower() == "true"
        return from_variables(environment, "torchrun", store_is_up=agent_store)
    # A batch script has SLURM_NTASKS and SLURM_PROCID as well; only a task of srun is in a step.
    if "SLURM_STEP_ID" in environment and _number(environment, "SLURM_NTASKS", "srun", 1) > 1:
        return _of_slurm(environment)
    return None


def from_variables(
    environment: Mapping[str, str], launcher: str = "environment", *, store_is_up: bool = False
) -> Launch:
    """The process that RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT describe. Raises `LaunchError`."""
    rank, world_size = _number(environment, "RANK", launcher), _number(environment, "WORLD_SIZE", launcher)
    host = environment.get("MASTER_ADDR", "")
    if not host:
        raise LaunchError(f"MASTER_ADDR is not set, so the {world_size} ranks cannot find each other.")
    port = _number(environment, "MASTER_PORT", launcher, _DEFAULT_PORT)
    run = f"{environment.get('TORCHELASTIC_RUN_ID', '')}.{environment.get('TORCHELASTIC_RESTART_COUNT', '')}"
    return _checked(
        Launch(
            rank,
            world_size,
            _number(environment, "LOCAL_RANK", launcher, 0),
            _number(environment, "LOCAL_WORLD_SIZE", launcher, 1),
            host,
            port,
            launcher,
            store_is_up,
            run,
        )
    )


def _of_slurm(environment: Mapping[str, str]) -> Launch:
    host = environment.get("MASTER_ADDR") or first_host(
        environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_NODELIST", "")
    )
    if not host:
        raise LaunchError(
            "srun set no SLURM_STEP_NODELIST and MASTER_ADDR is not set, so the ranks cannot find each other."
        )
    # Steps of different jobs may share a machine: one fixed port would let them meet each other.
    job = _number(environment, "SLURM_JOB_ID", "srun", 0)
    return _checked(
        Launch(
            _number(environment, "SLURM_PROCID", "srun"),
            _number(environment, "SLURM_NTASKS", "srun"),
            _number(environment, "SLURM_LOCALID", "srun", 0),
            _tasks_here(environment),
            host,
            _number(environment, "MASTER_PORT", "srun", _DEFAULT_PORT + job % 1000),
            "srun",
        )
    )


def _tasks_here(environment: Mapping[str, str]) -> int:
    """Of "8(x3),4", which says how many tasks run on each machine of a step, the number of this one."""
    text = environment.get("SLURM_STEP_TASKS_PER_NODE") or environment.get("SLURM_TASKS_PER_NODE", "")
    counts: list[int] = []
    for tasks, machines in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        counts += [int(tasks)] * min(int(machines or 1), 100_000)
    node = _number(environment, "SLURM_NODEID", "srun", 0)
    return counts[node] if node < len(counts) else 1


def first_host(nodes: str) -> str:
    """The first name of a Slurm node list, such as "gpu07" of "gpu[07-12,20],login1"; "" of an empty one."""
    match = re.match(r"([^\[,]*)(?:\[([0-9]+)[^\]]*\])?([^\[,]*)", nodes.strip())
    return "" if match is None else "".join(part or "" for part in match.groups())


def _number(environment: Mapping[str, str], name: str, launcher: str, default: int | None = None) -> int:
    text = environment.get(name, "").strip()
    if not text and default is not None:
        return default
    if not text:
        raise LaunchError(f"{name} is not set, but {launcher} ranks need it.")
    if not text.isdecimal():
        raise LaunchError(f"{name} should be a whole number, but is {text!r}.")
    return int(text)


def _checked(launch: Launch) -> Launch:
    if launch.rank >= launch.world_size:
        raise LaunchError(f"Rank {launch.rank} does not exist among {launch.world_size} ranks.")
    return launch
