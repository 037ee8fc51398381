"""Whether a library has device code for a GPU, told from the images inside its file."""

from __future__ import annotations

from collections.abc import Iterable

from torchlift.doctor.facts import CodeImages, Facts, Library
from torchlift.wheels.compatibility import jit_runs_on, runs_on


def main_cuda_library(facts: Facts) -> Library | None:
    """torch's library of CUDA kernels, if it was read and images were found."""
    return _torch_library(facts, ("libtorch_cuda", "torch_cuda"))


def linear_algebra_library(facts: Facts) -> Library | None:
    """torch's library of linear algebra, which brings MAGMA, if it was read and images were found."""
    return _torch_library(facts, ("libtorch_cuda_linalg", "torch_cuda_linalg"))


def complete(images: Iterable[CodeImages]) -> list[CodeImages]:
    """The cubin architectures that all kernels of a library are built for.

    A wheel also holds a few kernels for further ones (torch 2.15.0: 476 images each for sm_75 to sm_120, one for
    sm_89): fewer than half of the largest count does not make a GPU supported.
    """
    cubins = [image for image in images if image.kind == "sass"]
    most = max((image.count for image in cubins), default=0)
    return [image for image in cubins if image.count * 2 >= most]


def cubin_for(images: Iterable[CodeImages], gpu: tuple[int, int], toolkit: tuple[int, int] | None) -> bool:
    """Whether one of the cubin architectures runs on the GPU as it is."""
    return any(image.kind == "sass" and runs_on(image.architecture, gpu, toolkit) for image in images)


def ptx_for(images: Iterable[CodeImages], gpu: tuple[int, int]) -> bool:
    """Whether there is PTX that a new enough driver compiles for the GPU."""
    return any(image.kind == "ptx" and jit_runs_on(image.architecture, gpu) for image in images)


def listed(images: Iterable[CodeImages]) -> str:
    """The architectures for a message: "sm_75, sm_80, compute_120"."""
    prefix = {"sass": "sm_", "ptx": "compute_"}
    return ", ".join(f"{prefix.get(image.kind, '')}{image.architecture}" for image in images) or "none"


def file_name(path: str) -> str:
    """The last part of a path of any system."""
    return path.replace("\\", "/").rpartition("/")[2]


def _torch_library(facts: Facts, stems: tuple[str, ...]) -> Library | None:
    for library in facts.libraries:
        if library.images and library.package in ("torch", None) and file_name(library.path).partition(".")[0] in stems:
            return library
    return None
