"""What the systems bring that images are built on: their C library, and the Python that is `python3` there.

Sources: release notes of Ubuntu, package lists of Debian and CentOS, read 2026-11-26; https://docs.linuxgsm.com/requirements/glibc,
2026-11-27; tags of Python and Ubuntu images by their Dockerfiles; images of NVIDIA without a system in their tag are Ubuntu's: 18.04
for CUDA 10, 16.04 for 8 and 9.
"""

from __future__ import annotations

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern


@dataclass(frozen=True, slots=True)
class BaseSystem:
    """A release of a system.

    Attributes:
        name: "ubuntu22.04".
        glibc: its C library, "2.35".
        python: the minor number of its `python3`.
    """

    name: str
    glibc: str
    python: int


_SYSTEMS = {
    name: BaseSystem(name, glibc, python)
    for name, glibc, python in (
        ("ubuntu14.04", "2.19", 4), ("ubuntu16.04", "2.23", 5), ("ubuntu18.04", "2.27", 6), ("ubuntu20.04", "2.31", 8),
        ("ubuntu22.04", "2.35", 10), ("ubuntu24.04", "2.39", 12), ("debian9", "2.24", 5), ("debian10", "2.28", 7),
        ("debian11", "2.31", 9), ("debian12", "2.36", 11), ("centos6", "2.12", 4), ("centos7", "2.17", 6),
    )
}  # fmt: skip
_CODENAMES = {
    "trusty": "ubuntu14.04",
    "xenial": "ubuntu16.04",
    "bionic": "ubuntu18.04",
    "focal": "ubuntu20.04",
    "jammy": "ubuntu22.04",
    "noble": "ubuntu24.04",
    "stretch": "debian9",
    "buster": "debian10",
    "bullseye": "debian11",
    "bookworm": "debian12",
}
_NUMBERED = lazy_pattern(
    r"(?<![a-z])(?P<name>ubuntu|debian|centos)[:_-]?(?P<major>\d\d?)(?:\.?(?P<minor>04|10)(?!\d))?"
)
# Tags alone: a robot and a lens have such names, too.
_CODED = lazy_pattern(
    r"(?:^|/)(?:ubuntu|debian|python|buildpack-deps)[^/:]*:(?:[^/:]*-)?(?P<code>" + "|".join(_CODENAMES) + r")(?![a-z])"
)
_CUDA_ALONE = lazy_pattern(
    r"(?:^|/)nvidia/cuda:(?P<major>[89]|10)\.\d+(?:\.\d+)?-(?:cudnn\d*-)?(?:base|runtime|devel)\Z"
)


def newer_systems(pythons: frozenset[int]) -> list[str]:
    """The first release of Ubuntu and of Debian whose `python3` is one of these, as people write it."""
    found: dict[str, str] = {}
    for system in _SYSTEMS.values():
        if system.python in pythons:
            found.setdefault(system.name[:6], system.name[:6].capitalize() + " " + system.name[6:])
    return list(found.values())


def system_of(image: str) -> BaseSystem | None:
    """The system that the name or the tag of an image tells; None where it tells none that is known."""
    if (alone := _CUDA_ALONE.search(image)) is not None:
        return _SYSTEMS["ubuntu18.04" if alone["major"] == "10" else "ubuntu16.04"]
    if (coded := _CODED.search(image)) is not None:
        return _SYSTEMS[_CODENAMES[coded["code"]]]
    match = _NUMBERED.search(image)
    if match is None:
        return None
    minor = f".{match['minor']}" if match["minor"] and match["name"] == "ubuntu" else ""
    return _SYSTEMS.get(f"{match['name']}{match['major']}{minor}")
