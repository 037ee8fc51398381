"""All that is known, in the order in which it is tried: where two rows fit one place, the earlier is the more exact."""

from __future__ import annotations

from collections.abc import Mapping

from torchlift.doctor.errors.known import (
    building,
    builds,
    clusters,
    compiling,
    containers,
    cuda,
    distributed,
    driver,
    extensions,
    files,
    general,
    imports,
    installing,
    kernels,
    launching,
    libraries,
    linking,
    memory,
    neighbours,
    packages,
    platforms,
    python,
    releases,
    resolving,
    services,
    signals,
    stated,
    toolchain,
    tracing,
    vendors,
)
from torchlift.doctor.errors.known_error import KnownError

SUBJECTS: Mapping[str, tuple[KnownError, ...]] = {
    "Driver, containers and GPUs out of view": driver.ROWS,
    "Containers and the installation of drivers": containers.ROWS,
    "Builds without code for the GPU": builds.ROWS,
    "Packages that do not fit": packages.ROWS,
    "Python, NumPy and what installs": python.ROWS,
    "Libraries on top of torch": libraries.ROWS,
    "Models, servers and their files": services.ROWS,
    "Compiled parts and helpers": extensions.ROWS,
    "Modules and symbols that are not there": imports.ROWS,
    "Libraries and headers of the system": linking.ROWS,
    "Compiling extensions": building.ROWS,
    "Compilers and CMake": toolchain.ROWS,
    "Installing and building": installing.ROWS,
    "Resolving and downloading": resolving.ROWS,
    "torch.compile, export and TorchScript": compiling.ROWS,
    "Triton, export, ONNX and TensorRT": tracing.ROWS,
    "Memory and data loading": memory.ROWS,
    "How processes end": signals.ROWS,
    "Windows, WSL, AMD, Intel and Apple": platforms.ROWS,
    "Kernels, and what a GPU cannot do": kernels.ROWS,
    "Numerical libraries, and other vendors' GPUs": vendors.ROWS,
    "Launchers and clusters": launching.ROWS,
    "MPI, Slurm, Ray and networks": clusters.ROWS,
    "Several processes": distributed.ROWS,
    "Programs beside torch": neighbours.ROWS,
    "Codes of CUDA": cuda.ROWS,
    "Files of weights": files.ROWS,
    "Packages of releases that do not belong together": releases.ROWS,
    "What a message says itself": stated.ROWS,
    "Any other name": general.ROWS,
}
"""The table by subject, with the titles of docs/errors.md."""

KNOWN: tuple[KnownError, ...] = tuple(row for rows in SUBJECTS.values() for row in rows)
