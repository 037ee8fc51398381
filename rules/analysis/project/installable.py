"""Whether code is installable: others then run it in ways that the project does not show."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from torchlift.file_bytes import file_bytes
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.purpose import FOLDERS_ASIDE

_SURE = frozenset({"setup.py", "PKG-INFO"})
_AT_THE_TOP = "hubconf.py"  # which `torch.hub` reads nowhere else
_SURE_ENDS = (".dist-info", ".egg-info")
_MAYBE = frozenset({"pyproject.toml", "setup.cfg"})
_EXCLUDED = lazy_pattern(r"\bexclude\s*=\s*[\[(]([^\])]*)[\])]")
_QUOTED = lazy_pattern(r"[\"']([^\"']+)[\"']")
_ROOT = lazy_pattern(
    r"\bpackage_dir\s*=\s*\{\s*[\"'][\"']\s*:\s*[\"'](\w+)[\"']|\bfind_packages\(\s*(?:where\s*=\s*)?[\"'](\w+)[\"']"
)
_SECTION = lazy_pattern(r"^\s*\[(?:project|build-system|tool\.poetry|tool\.flit\.\w+|metadata)\]", re.MULTILINE)

# At the top of a repository these are not installed with it; a library may offer a folder `testing` to its users.
_NOT_INSTALLED = FOLDERS_ASIDE - {"testing"}


def packaging_of(project: Project, path: str) -> str | None:
    """The file that makes the code at `path` installable, both relative to the project; None if there is none.

    It stands in a folder around the code. Tests, examples and their like are installed by a file of their own only.
    """
    for folder in _folders(path):
        if not folder and "/" in path and path.partition("/")[0] in _NOT_INSTALLED:
            return None
        found = project.once(_packaging_in, folder)
        inside = path[len(folder) + 1 :] if folder else path
        if found == "setup.py" and "/" in inside and inside.partition("/")[0] in project.once(_left_out, folder):
            continue
        if found is not None:
            return f"{folder}/{found}" if folder else found
    return None


def _packaging_in(project: Project, inside: str) -> str | None:
    folder = project.root / inside
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - a Path for each of hundreds of names is dear
    except OSError:
        return None
    for name in names:
        if (
            name in _SURE
            or (name == _AT_THE_TOP and not inside)
            or name.endswith(_SURE_ENDS)
            or (name in _MAYBE and _declares(folder / name))
        ):
            return name
    return None


def _left_out(project: Project, folder: str) -> frozenset[str]:
    """Names of folders beside a `setup.py` that its `find_packages(exclude=...)` leaves out, or that lie beside the only one it looks into."""
    try:
        text = file_bytes(project.root / folder / "setup.py").decode("utf-8", "replace")
    except OSError:
        return frozenset()
    excluded = [name for given in _EXCLUDED.findall(text) for name in _QUOTED.findall(given)]
    left = {name for name in excluded if "*" not in name and "." not in name}
    within = _ROOT.search(text)
    if within is not None:
        left |= {
            item.name
            for item in (project.root / folder).iterdir()
            if item.is_dir() and item.name != (within[1] or within[2])
        }
    return frozenset(left)


def _declares(file: Path) -> bool:
    try:
        return _SECTION.search(file_bytes(file).decode("utf-8", "replace")) is not None
    except OSError:
        return False


def _folders(path: str) -> Iterator[str]:
    """Folders around a file, from the inside out; the root is empty."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""
