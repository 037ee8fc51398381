"""Every torch wheel that the tables know, one offer for a release line, a build and a platform."""

from __future__ import annotations

from functools import cache

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.wheels.compatibility import runs_on
from torchlift.wheels.tables import table

_CUDA = lazy_pattern(r"cu(\d+)(\d)")


@dataclass(frozen=True)
class Release:
    """A file of a release: what it asks of Python and of the system. Other builds of the release are taken to ask the
    same, but for what `Offer.floor` says."""

    version: str
    pythons: frozenset[str]
    """"3.14", "3.14t"."""
    floor: tuple[int, int] | None
    """The oldest glibc on Linux, the oldest macOS on macOS."""


@dataclass(frozen=True)
class Offer:
    """A wheel that can be installed."""

    torch: str
    """The release line: "2.15"."""
    build: str
    """"cu132", "cpu", "rocm7.2", "xpu"."""
    platform: str
    index: str | None
    """The index to name, None for the default one."""
    releases: tuple[Release, ...]
    """Oldest first."""
    sass: tuple[str, ...] = ()
    measured: bool = True
    secondary: bool = False
    """Only a secondary source knows of this wheel."""
    floor: tuple[int, int] | None = None
    source: str = ""
    date: str = ""

    @property
    def line(self) -> tuple[int, int]:
        """(2, 15)."""
        return line_of(self.torch)

    @property
    def cuda(self) -> tuple[int, int] | None:
        """(13, 2) for "cu132", None for builds without CUDA."""
        return cuda_of(self.build)

    @property
    def main(self) -> bool:
        """It is the build that PyPI has for this release on Linux, and so the most tested one."""
        return table_default(self.torch, self.platform) == self.build

    def runs_on(self, capability: tuple[int, int]) -> bool:
        """Whether it has finished device code for the GPU; PTX that a driver might compile does not count."""
        return any(runs_on(image, capability, self.cuda) for image in self.sass)


def line_of(version: str) -> tuple[int, int]:
    """(2, 15) from "2.15" or "2.15.1"."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def cuda_of(build: str) -> tuple[int, int] | None:
    """(13, 2) from "cu132", None from anything else."""
    match = _CUDA.fullmatch(build)
    return (int(match[1]), int(match[2])) if match else None


@cache
def known_versions() -> tuple[str, ...]:
    """All releases that the tables know, oldest first: "2.0.0" to "2.15.0"."""
    return tuple(sorted({row["version"] for row in table("releases")["rows"]}, key=_numbers))


@cache
def offers(platform: str) -> tuple[Offer, ...]:
    """The offers for "linux_x86_64", "linux_aarch64", "windows_amd64", "darwin_arm64" or "darwin_x86_64"."""
    lines = dict.fromkeys(row["torch"] for row in table("releases")["rows"])
    found: list[Offer] = []
    for line in lines:
        releases = _releases(line, platform)
        if releases:
            found += _cuda_offers(line, platform, releases) + _other_offers(line, platform, releases)
    return tuple(found)


@cache
def table_default(line: str, platform: str) -> str | None:
    """The build that PyPI has for the newest release of a line; for Windows what it has on Linux, as PyPI's own Windows
    wheels are CPU builds."""
    where = "linux_x86_64" if platform == "windows_amd64" else platform
    rows = [row for row in table("releases")["rows"] if row["torch"] == line and row["platform"] == where]
    return max(rows, key=lambda row: _numbers(row["version"]))["build"] if rows else None


def _cuda_offers(line: str, platform: str, releases: tuple[Release, ...]) -> list[Offer]:
    on_pypi = platform != "windows_amd64"
    return [
        Offer(
            line,
            row["build"],
            platform,
            None if on_pypi and table_default(line, platform) == row["build"] else index_of(row["build"]),
            releases,
            tuple(row["sass"]),
            row["measured"],
            row.get("secondary", False),
            _pair(row.get("glibc")),
            row["source"],
            row["date"],
        )
        for row in table("wheels")["rows"]
        if row["torch"] == line and row["platform"] == platform
    ]


def _other_offers(line: str, platform: str, releases: tuple[Release, ...]) -> list[Offer]:
    rows = {row["build"]: row for row in table("indexes")["rows"]}
    found = []
    default_is_cpu = platform != "linux_x86_64" and not (
        platform == "linux_aarch64" and table_default(line, platform) != "cpu"
    )
    cpu = rows["cpu"]
    index = None if default_is_cpu else cpu["url"]
    found.append(Offer(line, "cpu", platform, index, releases, source=cpu["source"], date=cpu["date"]))
    xpu = rows["xpu"]
    if platform in xpu["platforms"] and line_of(line) >= line_of(xpu["first"]):
        confirmed = line_of(line) <= line_of(xpu["confirmed_last"])
        floor = (2, 28) if platform.startswith("linux") else None
        found.append(
            Offer(
                line, "xpu", platform, xpu["url"], releases, (), False, not confirmed, floor, xpu["source"], xpu["date"]
            )
        )
    if platform == "linux_x86_64":
        for row in table("rocm")["rows"]:
            if row["torch"] == line:
                floor = (2, 28) if line_of(line) >= (2, 6) else None
                found += [
                    Offer(
                        line,
                        f"rocm{version}",
                        platform,
                        index_of(f"rocm{version}"),
                        releases,
                        (),
                        row["confirmed"],
                        False,
                        floor,
                        row["source"],
                        row["date"],
                    )
                    for version in row["versions"]
                ]
    return found


def index_of(build: str) -> str:
    """PyTorch's own index for a build."""
    return f"{table('indexes')['root']}{build}"


def _releases(line: str, platform: str) -> tuple[Release, ...]:
    rows = [row for row in table("releases")["rows"] if row["torch"] == line and row["platform"] == platform]
    found = [Release(row["version"], frozenset(row["pythons"]), _pair(row["floor"])) for row in rows]
    return tuple(sorted(found, key=lambda release: _numbers(release.version)))


def _pair(value: list[int] | None) -> tuple[int, int] | None:
    return (value[0], value[1]) if value else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))
