"""All that is known, in the order in which it is tried: where two rows fit one place, the earlier is the more exact."""

from __future__ import annotations

from collections.abc import Mapping

from torchlift.doctor.errors.known import (
    building,
    builds,
    compiling,
    distributed,
    driver,
    extensions,
    files,
    installing,
    kernels,
    launching,
    libraries,
    memory,
    packages,
    platforms,
    python,
)
from torchlift.doctor.errors.known_error import KnownError

SUBJECTS: Mapping[str, tuple[KnownError, ...]] = {
    "Driver, containers and GPUs out of view": driver.ROWS,
    "Builds without code for the GPU": builds.ROWS,
    "Packages that do not fit": packages.ROWS,
    "Python, NumPy and what installs": python.ROWS,
    "Libraries on top of torch": libraries.ROWS,
    "Compiled parts and helpers": extensions.ROWS,
    "Compiling extensions": building.ROWS,
    "Installing and building": installing.ROWS,
    "torch.compile, export and TorchScript": compiling.ROWS,
    "Memory and data loading": memory.ROWS,
    "Windows, WSL, AMD, Intel and Apple": platforms.ROWS,
    "Kernels, and what a GPU cannot do": kernels.ROWS,
    "Launchers and clusters": launching.ROWS,
    "Several processes": distributed.ROWS,
    "Files of weights": files.ROWS,
}
"""The table by subject, with the titles of docs/errors.md."""

KNOWN: tuple[KnownError, ...] = tuple(row for rows in SUBJECTS.values() for row in rows)
