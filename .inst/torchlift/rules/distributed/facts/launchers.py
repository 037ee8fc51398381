"""Environment variables in which launchers tell a process its number.

Sources: torch/distributed/run.py of the 2.15.0 wheel (torchrun); srun(1), "OUTPUT ENVIRONMENT VARIABLES" (Slurm);
mpirun(1) of Open MPI 4 and 5; the Hydra process manager of MPICH; the user guide of MVAPICH2 2.3.7; read 2026-11-22.
"""

from __future__ import annotations

_RANKS = {
    "RANK": "LOCAL_RANK",
    "SLURM_PROCID": "SLURM_LOCALID",
    "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_LOCAL_RANK",
    "MV2_COMM_WORLD_RANK": "MV2_COMM_WORLD_LOCAL_RANK",
    "PMI_RANK": "MPI_LOCALRANKID",
    "PALS_RANKID": "PALS_LOCAL_RANKID",
}

RANKS = frozenset(_RANKS)
"""The number of the process among all."""

LOCAL_RANKS = frozenset(_RANKS.values())
"""The number of the process among those of its host."""

OWN_NUMBERS = RANKS | LOCAL_RANKS | {"GROUP_RANK"}
"""Variables that differ between the processes of one program; `GROUP_RANK` is the number of the host."""

WORLD_SIZES = frozenset({"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE"})
"""The number of processes."""

SET_BY_TORCHRUN = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
"""Variables that a process of torchrun always has."""
