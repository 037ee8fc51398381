"""Which of several places a finding names: the nearest to its own file, so that the reader knows it or finds it soon."""

from __future__ import annotations

from collections.abc import Iterable

from torchlift.rules.analysis.places.purpose import FOLDERS_ASIDE, is_aside

Place = tuple[str, int]
"""A file, relative to the project root, and a line in it."""

_MORE = " (and "
_NAMED = 2
"""That many others are named and not only counted."""


def nearest(places: Iterable[Place], near: str) -> str | None:
    """`path:line` of the place to name, with the others if they are few, else their number; None if there is none.

    First choice is the file itself, then its folder, then what shares the most folders with it; library code comes before tests, examples
    and scripts at the top of the project.

    Args:
        places: where it happens, each once.
        near: the file in which the answer is shown.
    """
    known = sorted(set(places))
    if not known:
        return None
    path, line = min(known, key=lambda place: (_distance(place[0], near), place))
    others = [f"{other}:{number}" for other, number in known if (other, number) != (path, line)]
    if not others:
        return f"{path}:{line}"
    told = ", ".join(others) if len(others) <= _NAMED else f"{len(others)} more places"
    return f"{path}:{line}{_MORE}{told})"


def place_alone(named: str) -> str:
    """What `nearest` returned without the others."""
    return named.partition(_MORE)[0]


def _distance(path: str, near: str) -> tuple[bool, bool, int, bool, int, int]:
    *folders, file = path.split("/")
    *own, own_file = near.split("/")
    shared = 0
    while shared < min(len(folders), len(own)) and folders[shared] == own[shared]:
        shared += 1
    common = sum(folder not in FOLDERS_ASIDE for folder in own[:shared])  # two examples have nothing in common but that
    # `tests/core/test_utils.py` is about `kornia/core/utils.py`: the same names in another tree.
    alike = len({*folders, file.removeprefix("test_")} & {*own, own_file})
    return path != near, folders != own, -common, is_aside(path), -alike, len(folders) + len(own) - 2 * shared
