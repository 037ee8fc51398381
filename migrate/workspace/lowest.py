"""The lowest torch release that a migrated project has to run on, and what says so.

A requirement decides. Where none names a release, the lowest counts that the project is run with, but for images that no
job builds where jobs name a release, and for lock files alone that hold the newest; where it names none there either, all that is known is what the lowest is at least: the first release that has wheels for the Pythons asked
for, and that has the names the code uses (`find.newest_name`), or else the oldest that torchlift knows. It is never taken
to be the newest, for which most fixes could be made and some would break the project.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from torchlift.dependencies.lowest import lowest_release
from torchlift.dependencies.metadata import read_metadata, real_path
from torchlift.dependencies.run_with import RunWith, image_of_unknown_torch, releases_on_pages, releases_run_with
from torchlift.file_bytes import file_bytes
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.workspace.bounds import folders_from, read_bounds
from torchlift.versions import LATEST, TorchVersion
from torchlift.wheels.offers import known_versions
from torchlift.wheels.tables import table

_CLASSIFIER = lazy_pattern(r"Programming Language :: Python :: 3\.(\d+)")
_UNNAMED = "No requirement names a lowest torch"


@dataclass(frozen=True)
class Lowest:
    """A lowest release.

    Attributes:
        release: the release.
        source: the place that says so, such as `pyproject.toml:12`, relative to the project root; None where nothing does.
        why: sentences about what was taken, and why; none where a requirement decides.
        at_least: whether the project may support nothing older than a newer release, too.
        pinned: whether the place asks for that release exactly.
        distributed: whether it is what a distribution asks of those who install it.
    """

    release: TorchVersion
    source: str | None
    why: tuple[str, ...] = ()
    at_least: bool = False
    pinned: bool = False
    distributed: bool = field(default=False, compare=False)


def lowest_torch(root: Path, start: Path | None = None) -> Lowest:
    """The lowest torch release of a project, as far as its files say without its code. Never raises for what they hold.

    Args:
        root: the project.
        start: folder inside it to begin with, as for `read_bounds`.
    """
    required = read_bounds(root, start)
    if required.bound is not None:
        bound = required.bound
        return Lowest(bound.version, bound.source, pinned=bound.pinned, distributed=not bound.lists)
    root = real_path(root)
    folders = folders_from(root, start)
    notes = required.notes
    for folder in folders:
        found, passed_over = _telling(
            [one for one in releases_run_with(root, folder) if not _of_a_program(root, folder, one)]
        )
        notes += passed_over
        if found:
            lowest = min(found, key=lambda one: one.release)
            others = f", the lowest of {len(found)} places" if len(found) > 1 else ""
            why = f"{_UNNAMED}; {lowest.release} is taken, which {lowest.place} runs it with{others}."
            return Lowest(lowest.release, lowest.place, (*notes, why), pinned=lowest.kind == "list")
    oldest = TorchVersion.parse(known_versions()[0])
    told = min(
        (one for folder in folders for one in releases_on_pages(root, folder)),
        key=lambda one: one.release,
        default=None,
    )
    if told is not None and told.release < oldest:
        why = f"{_UNNAMED}; {told.release} is taken, which {told.place} says to install."
        return Lowest(told.release, told.place, (*notes, why), at_least=True)
    asked = next(filter(None, (_lowest_python(root, folder) for folder in folders)), None)
    first = _first_for(asked[0]) if asked is not None else None
    if asked is not None and first is not None and first > oldest:
        why = f"{_UNNAMED}; {first} is taken, the first for Python 3.{asked[0]}, which {asked[1]} asks for."
        return Lowest(first, asked[1], (*notes, why), at_least=True)
    image = next(filter(None, (image_of_unknown_torch(root, folder) for folder in folders)), None)
    tells = f"{image} has an image whose torch is not known" if image is not None else "nothing else tells it"
    why = f"{_UNNAMED}, and {tells}; {oldest} is taken, the oldest release that torchlift knows."
    return Lowest(oldest, None, (*notes, why), at_least=True)


def _of_a_program(root: Path, folder: Path, one: RunWith) -> bool:
    """Whether a list lies beside Python files in a folder further in: it says what these are run with, and nothing else."""
    beside = (root / one.place.rpartition(":")[0]).parent
    return one.kind == "list" and beside != folder and any(beside.glob("*.py"))


def _telling(found: list[RunWith]) -> tuple[list[RunWith], tuple[str, ...]]:
    """Those places that tell the lowest release, and sentences about others that were passed over."""
    found = [one for one in found if one.kind != "list"] or found
    jobs = [one for one in found if one.kind == "job"]
    images = [one for one in found if one.kind == "image"]
    if jobs and images:
        stale = min(images, key=lambda one: one.release)
        if stale.release < min(one.release for one in jobs):
            why = f"{stale.place} has {stale.release}, and no job is seen to build it: it was passed over."
            return [one for one in found if one.kind != "image"], (why,)
    if found and all(one.kind == "lock" and one.release[:2] >= LATEST[:2] for one in found):
        why = f"{found[0].place} has {found[0].release}, which was the newest when it was locked, and may not be the lowest."
        return [], (why,)
    return found, ()


def _lowest_python(root: Path, folder: Path) -> tuple[int, str] | None:
    """Minor number of the lowest Python that the metadata of a folder asks for, and where it does."""
    asked = [
        (lowest.minor, item.place)
        for item in read_metadata(root, folder).python
        if (lowest := lowest_release(item.pin)) is not None and lowest.major == 3
    ]
    for name in () if asked else ("pyproject.toml", "setup.cfg", "setup.py"):
        try:
            lines = file_bytes(folder / name).decode("utf-8", "replace").splitlines()
        except OSError:
            continue
        place = (folder / name).relative_to(root).as_posix()
        asked += [
            (int(found[1]), f"{place}:{line}")
            for line, text in enumerate(lines, 1)
            if (found := _CLASSIFIER.search(text)) is not None
        ]
    return min(asked, default=None)


def _first_for(minor: int) -> TorchVersion | None:
    """The first release with wheels for Python 3.`minor`; None where the tables have none."""
    versions = [row["version"] for row in table("releases")["rows"] if f"3.{minor}" in row["pythons"]]
    return min(map(TorchVersion.parse, versions), default=None)
