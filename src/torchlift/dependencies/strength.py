"""Who asks for what stands in a list of requirements."""

from __future__ import annotations

from enum import IntEnum


class Strength(IntEnum):
    """Who asks; lower values decide."""

    RUNTIME = 0
    EXTRA = 1
    OTHER = 2


_RUNTIME = frozenset(
    {"project.dependencies", "tool.poetry.dependencies", "options.install_requires", "install_requires"}
)
_EXTRA = ("project.optional-dependencies", "options.extras_require", "extras_require")
_BUILD = frozenset({"build-system.requires", "options.setup_requires", "setup_requires"})


def strength_of(group: str) -> Strength | None:
    """Who asks for the requirements of a group; None for what only builds the distribution."""
    if group in _RUNTIME:
        return Strength.RUNTIME
    if group in _BUILD:
        return None
    return Strength.EXTRA if group.startswith(_EXTRA) else Strength.OTHER


def is_certain(group: str) -> bool:
    """Whether a group is what the distribution is built with, or needs to run."""
    return group in _RUNTIME or group in _BUILD
