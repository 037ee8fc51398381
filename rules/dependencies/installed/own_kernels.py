"""Triton kernels of the project's own: another triton than they were written for may not compile them."""

from __future__ import annotations

from torchlift.dependencies.pin import Pin
from torchlift.project import Project

_MARK = "@triton.jit"


def kernels_at_stake(pin: Pin, version: str, project: Project) -> tuple[str, bool] | None:
    """A file with kernels that a move of triton's pin to `version` concerns, and whether the first number changes.

    None where the project has no kernels, or the pin stays on its line.
    """
    if pin.name != "triton" or pin.exact is None or pin.exact.public.split(".")[:2] == version.split(".")[:2]:
        return None
    files = sorted(project.files_holding(_MARK))
    return (files[0], pin.exact.public.split(".")[0] != version.split(".", maxsplit=1)[0]) if files else None
