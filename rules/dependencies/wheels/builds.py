"""Which torch is built for which CUDA, from the resolver's tables."""

from __future__ import annotations

import re
from functools import cache

from torchlift.versions import TorchVersion
from torchlift.wheels.offers import cuda_of, known_versions, line_of, table_default
from torchlift.wheels.tables import table

Line = tuple[int, int]
FOR_GLIBC_228: Line = (2, 7)
"""The first line whose wheels are manylinux_2_28 everywhere. Source: tags of the wheels of torch 2.6 to 2.15, 2026-11-26."""


def is_named_in(path: str, release: str) -> bool:
    """Whether a path names the minor release that a file holds: a project that keeps one for each release moves by another file."""
    line = ".".join(release.split(".")[:2])
    return re.search(rf"(?<![\d.]){re.escape(line)}(?!\d)", path) is not None or f"torch{line.replace('.', '')}" in path


@cache
def lines_of(build: str) -> tuple[Line, ...]:
    """The release lines that have wheels for "cu126", oldest first; a secondary source counts too."""
    row = next((row for row in table("indexes")["rows"] if row["build"] == build and build.startswith("cu")), None)
    if row is None:
        return ()
    return tuple(sorted(line_of(line) for line in (*row.get("torch", ()), *row.get("torch_secondary", ()))))


@cache
def is_older_than_all(build: str) -> bool:
    """Whether a CUDA build was given up before torch 2.0. Unknown newer ones were not."""
    cuda, oldest = cuda_of(build), min(found for row in table("indexes")["rows"] if (found := cuda_of(row["build"])))
    return cuda is not None and cuda < oldest and not lines_of(build)


@cache
def never_was(build: str) -> bool:
    """Whether PyTorch had no releases for a CUDA, although it had some for an older and for a newer one."""
    known = [found for row in table("indexes")["rows"] if (found := cuda_of(row["build"]))]
    cuda = cuda_of(build)
    return cuda is not None and min(known) < cuda < max(known) and cuda not in known


@cache
def known_line(line: Line) -> bool:
    """Whether the tables have a release of this line."""
    return any(line_of(version) == line for version in known_versions())


def default_build(line: Line) -> str | None:
    """The build that the default index has for Linux on x86_64."""
    return table_default(f"{line[0]}.{line[1]}", "linux_x86_64") if known_line(line) else None


@cache
def allowed(specifier: str | None) -> tuple[str, ...]:
    """The releases in the tables that a specifier allows; all for None."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        wanted = SpecifierSet(specifier or "")
    except InvalidSpecifier:
        return known_versions()
    return tuple(version for version in known_versions() if wanted.contains(version, prereleases=True))


@cache
def allows(specifier: str | None, version: str) -> bool:
    """Whether a specifier allows a version; one that is not understood allows everything."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(specifier or "").contains(version, prereleases=True)
    except InvalidSpecifier:
        return True


@cache
def reaches_beyond(specifier: str | None) -> tuple[bool, bool]:
    """Whether a specifier allows a torch older, and one newer, than all in the tables."""
    newest = line_of(known_versions()[-1])
    return allows(specifier, "1.13.1"), allows(specifier, f"{newest[0]}.{newest[1] + 1}.0")


def newest_of(line: Line) -> str | None:
    """The newest release of a line in the tables."""
    return next((version for version in reversed(known_versions()) if line_of(version) == line), None)


@cache
def pythons_of(version: str | None) -> frozenset[int]:
    """Minor numbers of the Pythons that a release has wheels for, on any system; those without a GIL do not count."""
    names = {name for row in table("releases")["rows"] if row["version"] == version for name in row["pythons"]}
    return frozenset(int(name.partition(".")[2]) for name in names if not name.endswith("t"))


def minors_in(specifier: str | None) -> list[int]:
    """Minor numbers of the Pythons that a specifier allows; of some of them it may allow the releases alone that it names."""
    named = [match[0] for match in re.finditer(r"\b3\.\d+\.\d+\b", specifier or "")]
    return [
        minor
        for minor in range(6, 18)
        if any(allows(specifier, one) for one in (f"3.{minor}.30", *(n for n in named if n.startswith(f"3.{minor}."))))
    ]


def target_line(target: TorchVersion) -> Line:
    """(2, 15)."""
    return target.major, target.minor


def spelled(line: Line) -> str:
    """(2, 15) as "2.15", (13, 2) as "13.2"."""
    return f"{line[0]}.{line[1]}"
