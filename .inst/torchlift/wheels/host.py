"""Which files of a release a machine's system and Python can install."""

from __future__ import annotations

from torchlift.lazy_dataclass import dataclass
from torchlift.wheels.machine import Machine
from torchlift.wheels.offers import Offer, Release
from torchlift.wheels.wish import Wish

_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "x64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}

_LABELS = {
    "linux_x86_64": "Linux on x86_64",
    "linux_aarch64": "Linux on aarch64",
    "windows_amd64": "Windows",
    "darwin_arm64": "macOS on arm64",
    "darwin_x86_64": "macOS on x86_64",
}


@dataclass(frozen=True)
class Host:
    """A platform for which torch has wheels. Unknown Python and system versions fit everything."""

    platform: str
    """"linux_x86_64", "linux_aarch64", "windows_amd64", "darwin_arm64" or "darwin_x86_64"."""
    python: str | None
    """"3.14" or "3.14t"."""
    system: tuple[int, int] | None
    """The version of glibc or macOS."""

    @property
    def label(self) -> str:
        """For messages: "Linux on x86_64"."""
        return _LABELS[self.platform]

    @property
    def os(self) -> str:
        """ "linux", "windows" or "darwin"."""
        return self.platform.partition("_")[0]

    def versions(self, offer: Offer, wish: Wish | None = None) -> list[str]:
        """The releases of an offer that this host can install and `wish` allows, oldest first."""
        return list(
            dict.fromkeys(
                release.version
                for release in offer.releases
                if self._python_fits(release)
                and self._system_fits(offer, release)
                and (wish is None or wish.allows(release.version))
            )
        )

    def obstacle(self, offer: Offer) -> str | None:
        """Why no release of the offer can be installed here, as the end of "torch 2.8 ..."; None when one can."""
        if self.versions(offer):
            return None
        if not any(self._python_fits(release) for release in offer.releases):
            known = sorted({python for release in offer.releases for python in release.pythons}, key=_python_order)
            return f"has no wheel for Python {self.python} (it has {', '.join(known)})"
        floors = [floor for release in offer.releases if (floor := offer.floor or release.floor)]
        lowest = min(floors, default=(0, 0))
        name = "glibc" if self.os == "linux" else "macOS"
        return f"needs {name} {lowest[0]}.{lowest[1]} and this machine has {_version(self.system)}"

    def _python_fits(self, release: Release) -> bool:
        return self.python is None or self.python in release.pythons

    def _system_fits(self, offer: Offer, release: Release) -> bool:
        floor = max(offer.floor or (0, 0), release.floor or (0, 0))
        return self.system is None or self.system >= floor


def host_of(machine: Machine) -> Host | str:
    """The host, or a sentence on why torch has no wheel at all for such a machine."""
    processor = _MACHINES.get(machine.machine.lower())
    system = machine.os.lower()
    if machine.musl and system == "linux":
        return "torch has no wheels for musl (Alpine Linux): use a distribution or a container image with glibc 2.28 or newer"
    if processor is None or system not in ("linux", "windows", "darwin"):
        return f"torch has no wheels for the system {machine.os!r} on the processor {machine.machine!r}"
    if system == "windows" and processor == "aarch64":
        return "PyPI has no torch wheels for Windows on ARM; an x86_64 Python runs the CPU build in emulation"
    names = {"linux": processor, "windows": "amd64", "darwin": "arm64" if processor == "aarch64" else processor}
    python = None
    if machine.python is not None:
        python = f"{machine.python[0]}.{machine.python[1]}{'t' if machine.free_threaded else ''}"
    versions = {"linux": machine.glibc, "windows": None, "darwin": machine.macos}
    return Host(f"{system}_{names[system]}", python, versions[system])


def _python_order(python: str) -> tuple[int, str]:
    return int(python.partition(".")[2].rstrip("t")), python


def _version(version: tuple[int, int] | None) -> str:
    return f"{version[0]}.{version[1]}" if version else "an unknown version"
