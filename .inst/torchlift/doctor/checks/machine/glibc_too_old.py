"""The C library against what torch's Linux wheels need."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, problem, warning
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install
from torchlift.versions import TorchVersion
from torchlift.wheels.drivers import parts

CHECK = Check(
    id="glibc-too-old",
    group="machine",
    title="The C library is new enough for torch's wheels",
    why=(
        "Wheels of torch 2.7 and later are built for glibc 2.28 (RHEL 8, Ubuntu 20.04). On older systems pip says `No "
        "matching distribution found for torch`, and a copied installation fails with `version GLIBC_2.28 not found`."
    ),
    sources=("PyPI file list of torch and symbol versions of its wheels 2.0 to 2.15, measured 2026-11-21",),
)

_NEEDED = (2, 28)
_FIRST_WITH_IT = (2, 7)
_SOURCE = "manylinux_2_28 tags of torch 2.7 to 2.15"


def look(facts: Facts) -> Iterator[Result]:
    have = parts(facts.system.libc_version)[:2]
    if facts.system.libc != "glibc" or len(have) < 2:
        return
    seen = Evidence(
        "glibc", facts.system.libc_version or "", needed="2.28 or newer for torch 2.7 and later", source=_SOURCE
    )
    remedy = Remedy(
        "Stay with torch 2.6 here, or upgrade the distribution or use a container", install(facts, "torch==2.6.*")
    )
    if have >= _NEEDED:
        yield ok(f"glibc {facts.system.libc_version} is new enough for every torch wheel")
    elif facts.torch is None:
        yield warning(
            f"glibc {facts.system.libc_version} is too old for torch 2.7 and later: the last torch for it is 2.6",
            evidence=(seen,),
            remedy=remedy,
            confidence="table",
        )
    elif _release(facts.torch.version) >= _FIRST_WITH_IT and _from_a_wheel(facts):
        yield problem(
            f"glibc {facts.system.libc_version} is too old for the installed torch {facts.torch.version}",
            evidence=(seen,),
            remedy=remedy,
            confidence="table",
        )
    else:
        yield note(
            f"glibc {facts.system.libc_version} is too old for torch 2.7 and later: torch cannot be upgraded here",
            evidence=(seen,),
            confidence="table",
        )


def _release(version: str) -> tuple[int, int]:
    try:
        parsed = TorchVersion.parse(version)
    except ValueError:
        return (0, 0)
    return (parsed.major, parsed.minor)


def _from_a_wheel(facts: Facts) -> bool:
    package = facts.package("torch")
    return package is not None and any("manylinux_2_28" in tag for tag in package.tags)
