"""Which torchvision, torchaudio, triton and NVIDIA libraries belong to which torch: the resolver's table of METADATA."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from torchlift.dependencies.pin import Pin
from torchlift.rules.dependencies.wheels.builds import allows
from torchlift.wheels.tables import table

COMPANIONS = ("torchvision", "torchaudio", "triton")
_OPEN_SINCE = {"torchvision": ("0.29.0", "2.14.0"), "torchaudio": ("2.11.0", "2.11.0")}
"""From this release on a companion allows later releases of torch as well, beginning with this one. Source: METADATA of
torchvision 0.29.1 (`torch>=2.14.0`) and torchaudio 2.11.0 (no torch), read 2026-11-21."""


LAST_TORCHAUDIO = "2.11.0"
"""The release of torchaudio for torch 2.11 and all that came after."""


def has_torchaudio(build: str, *, default: bool) -> bool:
    """Whether the last torchaudio is built for the CUDA of a wheel, or the CPU; `default` where no index is named for it."""
    row = next(row for row in table("companions")["torchaudio"] if row["version"] == LAST_TORCHAUDIO)
    return build == row["default"] if default else build in row["builds"]


@cache
def _rows() -> tuple[dict[str, Any], ...]:
    return tuple(table("companions")["rows"])


def companion_of(name: str, torch: str) -> str | None:
    """The release of a companion for a release of torch, "0.29.1"; None when the table has none."""
    row = next((row for row in _rows() if row["torch"] == torch), None)
    if row is None:
        return None
    if name == "triton":
        pinned = row["pins"].get("triton")
        return pinned[2:] if isinstance(pinned, str) and pinned[:2] in {"==", "~="} else None
    found = row.get(name)
    return found if isinstance(found, str) else None


def belongs(pin: Pin, torch: str) -> bool:
    """Whether a requirement of a companion allows the one that belongs to a release of torch; False where none is known."""
    version = companion_of(pin.name, torch)
    return version is not None and allows(pin.specifier, version)


def companions_named(pins: Iterable[Pin], torch: str) -> str:
    """The releases of the companions among some pins that belong to a release of torch, "triton 3.9.0 and torchvision 0.30"."""
    found = {pin.name: version for pin in pins if (version := companion_of(pin.name, torch)) is not None}
    return " and ".join(f"{name} {version}" for name, version in found.items())


def nvidia_pins(torch: str) -> dict[str, str]:
    """What the default wheel of a release requires of NVIDIA's libraries, by package: "==9.1.0.70"."""
    row = next((row for row in _rows() if row["torch"] == torch), None)
    return {name: pin for name, pin in row["pins"].items() if name.startswith("nvidia-")} if row else {}


def known_releases(name: str) -> tuple[str, ...]:
    """The releases of a companion in the table, oldest first."""
    found = [companion_of(name, row["torch"]) for row in _rows()]
    return tuple(dict.fromkeys(version for version in found if version is not None))


def torch_for(name: str, version: str) -> str | None:
    """The torch that a release of a companion belongs to; None for one that is not in the table."""
    return next((row["torch"] for row in _rows() if companion_of(name, row["torch"]) == version), None)


def first_with_wheels(name: str, minor: int) -> str | None:
    """The first release of a package that stands beside torch with a wheel for Python 3.`minor`; None where no data tells."""
    row = next((row for row in table("neighbours")["rows"] if row["package"] == name), None)
    found = row["first"].get(f"3.{minor}") if row is not None else None
    return found if isinstance(found, str) else None


# `Requires-Dist` of the Linux wheels 2.0.1 to 2.15.0 on PyPI, the newest of each minor release, for Python 3.9 and newer, read 2026-11-26.
_REQUIRED_SINCE: tuple[tuple[tuple[int, int], dict[str, str]], ...] = (
    ((2, 2), {"typing-extensions": ">=4.8.0"}),
    ((2, 5), {"sympy": "==1.13.1"}),
    ((2, 6), {"typing-extensions": ">=4.10.0"}),
    ((2, 7), {"sympy": ">=1.13.3"}),
    ((2, 9), {"networkx": ">=2.5.1", "fsspec": ">=0.8.5"}),
    ((2, 11), {"setuptools": "<82"}),
    ((2, 13), {"setuptools": ">=77.0.3"}),
    ((2, 15), {"typing-extensions": ">=4.13.0"}),
)


def required_by_torch(line: tuple[int, int], name: str) -> str | None:
    """The versions of a package, by its normalised name, that torch of a line can be installed with; None where all will do."""
    return next((asked[name] for since, asked in reversed(_REQUIRED_SINCE) if since <= line and name in asked), None)


@cache
def can_go_together(torch: str | None, name: str, wanted: str | None) -> bool:
    """Whether some torch that a specifier allows has a companion that the other one allows; a build of a night counts as its release.

    True also where an answer would need releases that the table does not have.
    """
    wanted = re.sub(r"\.dev\d+", "", wanted) if wanted else wanted
    rows = [row for row in _rows() if allows(torch, row["torch"])]
    pairs = [(row["torch"], companion_of(name, row["torch"]), row["pins"].get("triton")) for row in _rows()]
    if not rows or not any(allows(wanted, version) for version in known_releases(name)):
        return True
    for release, companion, triton in pairs:
        if not allows(torch, release):
            continue
        if companion is not None and allows(wanted, companion):
            return True
        if name == "triton" and any(allows(triton, known) and allows(wanted, known) for known in _tritons(triton)):
            return True
        first = _OPEN_SINCE.get(name)
        if first and _later(release, first[1]) and (allows(wanted, first[0]) or _reaches(wanted, first[0])):
            return True
    older = allows(torch, "1.13.1") and allows(
        wanted, {"torchvision": "0.14.1", "torchaudio": "0.13.1"}.get(name, "2.0.0")
    )
    newer = allows(torch, "2.99.0") and allows(
        wanted, {"torchvision": "0.99.0", "torchaudio": "2.99.0"}.get(name, "3.99.0")
    )
    return older or newer


def _tritons(pinned: str | None) -> tuple[str, ...]:
    """Releases that `~=3.8.0` stands for, patch releases to come included."""
    if pinned is None or not pinned.startswith("~="):
        return ()
    head = pinned[2:].rpartition(".")[0]
    return tuple(f"{head}.{patch}" for patch in range(10))


def _later(version: str, other: str) -> bool:
    return tuple(map(int, version.split("."))) >= tuple(map(int, other.split(".")))


def _reaches(wanted: str | None, first: str) -> bool:
    """Whether a specifier allows a release after `first` that the table does not have."""
    head = first.rpartition(".")[0]
    return any(allows(wanted, f"{head}.{patch}") for patch in range(10)) or allows(wanted, "99.0.0")
