"""The lowest torch release a project supports, as its own metadata says.

A fix must not need a newer torch than this. What the distribution itself requires beats its extras, and these beat what
developers, requirement files and conda environments install; among equals the lowest release counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torchlift.dependencies.lowest import lowest_release
from torchlift.dependencies.metadata import Declaration, read_metadata, real_path
from torchlift.lazy_dataclass import dataclass
from torchlift.versions import TorchVersion


@dataclass(frozen=True)
class Bound:
    """A lowest release and where it was read.

    Attributes:
        version: the release.
        source: the place, such as `pyproject.toml:12`, relative to the project root; where places disagree, it says
            that this is the lowest.
    """

    version: TorchVersion
    source: str


@dataclass(frozen=True)
class BoundsReport:
    """What the metadata says about torch.

    Attributes:
        bound: the lowest release, or None where none is named.
        notes: sentences about what was not understood or contradicts itself.
    """

    bound: Bound | None
    notes: tuple[str, ...] = ()


def lowest_torch(root: Path, start: Path | None = None) -> Bound | None:
    """The lowest torch release that the project supports, or None if it does not say; see `read_bounds`."""
    return read_bounds(root, start).bound


def read_bounds(root: Path, start: Path | None = None) -> BoundsReport:
    """Read the metadata of the project. Never raises for what a file holds.

    Args:
        root: the project.
        start: folder inside it to begin with: a repository may hold several distributions. The first folder from
            there up to the root that names a lowest release decides.
    """
    root = real_path(root)
    folders = [root]
    if start is not None and root in (begin := real_path(start)).parents:
        folders = [
            folder for folder in (begin, *begin.parents) if folder.is_dir() and root in (folder, *folder.parents)
        ]
    notes: list[str] = []
    for folder in folders:
        metadata = read_metadata(root, folder, torch_only=True)
        notes += metadata.notes
        bound = _bound(metadata.declarations, notes)
        if bound is not None:
            return BoundsReport(bound, tuple(notes))
    return BoundsReport(None, tuple(notes))


def _bound(declarations: Sequence[Declaration], notes: list[str]) -> Bound | None:
    """The decisive declaration; `notes` gets a remark where others disagree."""
    named = [(lowest, item) for item in declarations if (lowest := lowest_release(item.pin)) is not None]
    if not named:
        return None
    strength = min(item.strength for _, item in named)
    equals = [(version, item.place) for version, item in named if item.strength == strength]
    lowest, place = min(equals, key=lambda pair: pair[0])
    others = {where: version for version, where in equals if version != lowest}
    if not others:
        return Bound(lowest, place)
    listed = ", ".join(f"{version} in {where}" for where, version in others.items())
    notes.append(f"torch {lowest} in {place} is lower than {listed}; the lowest counts.")
    return Bound(lowest, f"{place}, the lowest of {len(others) + 1}")
