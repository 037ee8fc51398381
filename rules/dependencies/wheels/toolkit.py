"""The CUDA toolkit that the code of a project is compiled with, as far as a file tells."""

from __future__ import annotations

import re

from torchlift.dependencies.images import read_images
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.dependencies.wheels.builds import default_build, target_line
from torchlift.rules.dependencies.wheels.hardware import wheel_for
from torchlift.rules.rule import Settings
from torchlift.view.text import TextView
from torchlift.wheels.offers import cuda_of

Cuda = tuple[int, int]

DROPPED: tuple[tuple[Cuda, Cuda], ...] = (((13, 0), (7, 5)), ((12, 0), (5, 0)))
"""From this toolkit on, nothing below this compute capability is compiled for. Sources: NVIDIA, "Navigating GPU
Architecture Support: A Guide for NVIDIA CUDA Developers" (13.0); CUDA 12.0 release notes (Kepler)."""

_NAMED = lazy_pattern(
    r"nvidia/cuda|pytorch/pytorch|nvcr\.io|-cuda(?=[\d.$:-])|cuda-toolkit|cuda-nvcc|/usr/local/cuda-\d|^\s*FROM\s+\S*\$|cudatoolkit|\bCUDA(?:_HOME|_PATH|/v)\b",
    re.MULTILINE,
)
_INSTALLED = lazy_pattern(
    r"(?:cuda-(?:toolkit|nvcc|compiler)[-=]|\bCUDA_(?:HOME|PATH)=[^\r\n]*(?:/v|/cuda-))(\d{1,2})[-.](\d{1,2})"
)


def lowest_capability(cuda: Cuda) -> Cuda:
    """The lowest compute capability that a toolkit compiles for, as far as it matters."""
    return next((lowest for since, lowest in DROPPED if cuda >= since), (3, 5))


def toolkit_in(view: TextView) -> Cuda | None:
    """The toolkit that a file names itself: of its image with a compiler, of a package, or of a folder; None if none or several."""
    found = {image.cuda for image in read_images(view) if image.compiler and image.cuda}
    found |= {(int(match[1]), int(match[2])) for match in _INSTALLED.finditer(view.code)}
    return found.pop() if len(found) == 1 else None


def names_toolkit(view: TextView) -> bool:
    """Whether anything in a file tells a toolkit, be it unclear which."""
    return _NAMED.search(view.code) is not None


def toolkit_of_target(settings: Settings) -> tuple[Cuda, str] | None:
    """The CUDA of the wheel that the project moves to, and whose wheel that is, for messages."""
    target = target_line(settings.target)
    if settings.machine is not None:
        wheel = wheel_for(settings.machine, target)
        if isinstance(wheel, str):
            return None
        cuda = cuda_of(wheel.build)
        return (cuda, f"torch {wheel.version} for {wheel.build}") if cuda else None
    cuda = cuda_of(default_build(target) or "")
    return (cuda, f"the default wheel of torch {target[0]}.{target[1]}") if cuda else None
