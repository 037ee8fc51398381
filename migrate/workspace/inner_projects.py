"""Folders of a repository that say by themselves with which torch their files run: several distributions, or programs with lists of their own.

What a distribution asks of those who install it decides for the folder. A list of what is installed decides for a program;
beside a distribution, whose code runs wherever that is installed, it only lowers what is known. So does, where no list there
names a release, the image that a container file beside programs builds on, and what a page there says to install.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from torchlift.dependencies.metadata import names_metadata, read_metadata, real_path
from torchlift.dependencies.run_with import is_container_file, is_page, releases_on_pages, releases_run_with
from torchlift.migrate.workspace.bounds import Bound, bound_of
from torchlift.migrate.workspace.lowest import Lowest
from torchlift.rules.rule import InnerProject

_SHOWN = 4


def inner_projects(root: Path, files: Iterable[str], whole: Lowest) -> tuple[InnerProject, ...]:
    """The folders above `files` with a lowest torch of their own, the innermost first. Never raises for what they hold.

    Args:
        root: the project.
        files: paths from there.
        whole: what holds for the rest.
    """
    root = real_path(root)
    found: dict[str, tuple[InnerProject, bool]] = {}
    for folder in sorted(_folders(files)):
        bound = _bound(root, root / folder)
        if bound is None or bound.source == whole.source:
            continue
        around = next((found[outer] for outer in _outwards(folder) if outer in found), None)
        lowest, distributed = (around[0].min_torch, around[1]) if around else (whole.release, whole.distributed)
        if bound.lists and (distributed or bound.of_image) and bound.version >= lowest:
            continue
        inner = InnerProject(f"{folder}/", bound.version, bound.source, bound.pinned, at_least=bound.of_image)
        found[folder] = inner, not bound.lists
    return tuple(
        inner for inner, _ in sorted(found.values(), key=lambda one: (-one[0].folder.count("/"), one[0].folder))
    )


def inner_said(found: tuple[InnerProject, ...]) -> tuple[str, ...]:
    """A sentence about folders with a lowest torch of their own, if there are any."""
    if not found:
        return ()
    shown = ", ".join(
        f"{one.folder} {one.min_torch} ({one.place})" for one in sorted(found, key=lambda one: one.folder)[:_SHOWN]
    )
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return (f"The lowest torch is another below {shown}{more}.",)


def _folders(files: Iterable[str]) -> set[str]:
    """The folders that hold the files, and those around them, without the root."""
    found: set[str] = set()
    for path in files:
        for folder in _outwards(path):
            if folder in found:
                break
            found.add(folder)
    return found


def _outwards(path: str) -> Iterable[str]:
    """The folders around a path, the innermost first, without the root."""
    while path := path.rpartition("/")[0]:
        yield path


def _bound(root: Path, folder: Path) -> Bound | None:
    """The lowest release that files of a folder name, if they do."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return None
    if any(map(names_metadata, names)):
        bound = bound_of(read_metadata(root, folder, torch_only=True).declarations)
        if bound is not None:
            return bound
    if not any(name.endswith((".py", ".ipynb")) for name in names):
        return None
    images = [(folder / name).relative_to(root).as_posix() for name in names if is_container_file(name)]
    found = [one for one in releases_run_with(root, folder) if one.place.rpartition(":")[0] in images] if images else []
    found += releases_on_pages(root, folder) if any(map(is_page, names)) else []
    if not found:
        return None
    lowest = min(found, key=lambda one: one.release)
    return Bound(lowest.release, lowest.place, lists=True, of_image=True)
