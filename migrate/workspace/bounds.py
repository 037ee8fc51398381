"""The lowest torch release a project supports, as its own metadata says.

A fix must not need a newer torch than this. What the distribution itself requires beats its extras, and these beat what
developers, requirement files and conda environments install; among equals the lowest release counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from torchlift.dependencies.lowest import lowest_release
from torchlift.dependencies.metadata import Declaration, read_metadata, real_path
from torchlift.dependencies.strength import Strength
from torchlift.lazy_dataclass import dataclass
from torchlift.versions import TorchVersion


@dataclass(frozen=True)
class Bound:
    """A lowest release and where it was read.

    Attributes:
        version: the release.
        source: the place, such as `pyproject.toml:12`, relative to the project root; where places disagree, it says
            that this is the lowest.
        pinned: whether all that names this release asks for it exactly.
        lists: whether only lists of what is installed name it, no distribution.
        of_image: whether it is what an image holds, or a page says.
    """

    version: TorchVersion
    source: str
    pinned: bool = False
    lists: bool = field(default=False, compare=False)
    of_image: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class BoundsReport:
    """What the metadata says about torch.

    Attributes:
        bound: the lowest release, or None where none is named.
        notes: sentences about what was not understood.
    """

    bound: Bound | None
    notes: tuple[str, ...] = ()


def read_bounds(root: Path, start: Path | None = None) -> BoundsReport:
    """Read the metadata of the project. Never raises for what a file holds.

    Args:
        root: the project.
        start: folder inside it to begin with: a repository may hold several distributions. The first folder from
            there up to the root that names a lowest release decides.
    """
    notes: list[str] = []
    for folder in folders_from(root := real_path(root), start):
        metadata = read_metadata(root, folder, torch_only=True)
        notes += metadata.notes
        bound = bound_of(metadata.declarations)
        if bound is not None:
            return BoundsReport(bound, tuple(notes))
    return BoundsReport(None, tuple(notes))


def folders_from(root: Path, start: Path | None) -> list[Path]:
    """The folders from `start` up to the project `root`, a real path; that one alone where `start` lies elsewhere."""
    if start is None or root not in (begin := real_path(start)).parents:
        return [root]
    return [folder for folder in (begin, *begin.parents) if folder.is_dir() and root in (folder, *folder.parents)]


def bound_of(declarations: Sequence[Declaration]) -> Bound | None:
    """The decisive one of what is declared in one folder; None where none names a lowest release."""
    named = [(lowest, item) for item in declarations if (lowest := lowest_release(item.pin)) is not None]
    if not named:
        return None
    strength = min(item.strength for _, item in named)
    equals = {item.place: version for version, item in named if item.strength == strength}
    place, lowest = min(equals.items(), key=lambda pair: pair[1])
    others = sum(version != lowest for version in equals.values())
    pinned = all(item.pin.exact for version, item in named if item.strength == strength and version == lowest)
    source = f"{place}, the lowest of {others + 1}" if others else place
    return Bound(lowest, source, pinned, strength is Strength.OTHER)
