"""What installed distributions require of each other, for the interpreter that was examined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from packaging.markers import InvalidMarker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from torchlift.doctor.facts import Facts, Package
from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Requires:
    """`by` requires `name` with the versions of `wanted`; `installed` is None when no such distribution was seen."""

    by: Package
    name: str
    wanted: str
    """A specifier set such as "==9.26.0.51", empty for any version."""
    installed: Package | None
    met: bool | None
    """None when the versions cannot be compared."""

    def as_requirement(self) -> str:
        """ "nvidia-nccl-cu13==2.30.7"."""
        return f"{self.name}{self.wanted}"


def requirements_of(facts: Facts, package: Package, *, deep: bool = False) -> Iterator[Requires]:
    """What `package` requires here, markers evaluated; `deep` follows the extras that it asks for (`cuda-toolkit[...]`)."""
    yield from _walk(facts, marker_environment(facts), package, frozenset(), deep, set())


def satisfies(version: str, wanted: str) -> bool | None:
    """Whether a version is in a specifier set; a local part ("+cu132") only counts where the set names one."""
    requirement = _parsed(f"x{wanted}")
    if requirement is None:
        return None
    try:
        return requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return None


def _walk(
    facts: Facts,
    environment: dict[str, str],
    package: Package,
    extras: frozenset[str],
    deep: bool,
    seen: set[tuple[str, frozenset[str]]],
) -> Iterator[Requires]:
    if (package.name, extras) in seen:
        return
    seen.add((package.name, extras))
    for line in package.requires:
        requirement = _parsed(line)
        if requirement is None or not _applies(environment, requirement, extras):
            continue
        name = canonicalize_name(requirement.name)
        wanted = str(requirement.specifier)
        installed = facts.package(name)
        met = None if installed is None else satisfies(installed.version, wanted)
        yield Requires(package, name, wanted, installed, met)
        if deep and installed is not None and requirement.extras:
            yield from _walk(facts, environment, installed, frozenset(requirement.extras), deep, seen)


@lru_cache(maxsize=1024)
def _parsed(line: str) -> Requirement | None:
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def _applies(environment: dict[str, str], requirement: Requirement, extras: frozenset[str]) -> bool:
    if requirement.marker is None:
        return True
    try:
        return any(requirement.marker.evaluate({**environment, "extra": extra}) for extra in extras or {""})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, InvalidVersion):
        return False


def marker_environment(facts: Facts) -> dict[str, str]:
    """The marker variables of the examined interpreter (PEP 508), not of the one that runs the doctor."""
    system = facts.system
    version = facts.python.version if re.match(r"\d+\.\d+", facts.python.version) else "3"
    machine = facts.python.machine or system.machine
    if system.os == "darwin" and machine == "aarch64":
        machine = "arm64"
    if system.os == "windows" and machine == "x86_64":
        machine = "AMD64"
    cpython = facts.python.implementation == "cpython"
    return {
        "python_version": ".".join(version.split(".")[:2]),
        "python_full_version": version,
        "implementation_name": facts.python.implementation,
        "implementation_version": version,
        "platform_python_implementation": "CPython" if cpython else facts.python.implementation,
        "sys_platform": {"windows": "win32"}.get(system.os, system.os),
        "platform_system": {"linux": "Linux", "windows": "Windows", "darwin": "Darwin"}.get(system.os, ""),
        "os_name": "nt" if system.os == "windows" else "posix",
        "platform_machine": machine,
        "platform_release": system.kernel or "",
        "platform_version": "",
    }
