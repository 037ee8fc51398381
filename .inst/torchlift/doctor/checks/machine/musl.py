"""Alpine and other systems without glibc."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, problem
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="musl",
    group="machine",
    title="The C library is glibc",
    why=(
        "torch publishes Linux wheels for glibc only (manylinux), none for musl (Alpine): pip says `Could not find a "
        "version that satisfies the requirement torch`. NVIDIA's driver libraries need glibc as well."
    ),
    sources=("PyPI file list of torch, 2026-11-21: no musllinux tag",),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.system.libc == "glibc":
        yield ok("The C library is glibc, as torch's wheels need")
    elif facts.system.libc == "musl":
        name = facts.system.distribution or "This system"
        seen = Evidence(
            "C library", f"musl {facts.system.libc_version or ''}".rstrip(), needed="glibc", source="the interpreter"
        )
        if facts.torch is not None:
            yield note(
                f"{name} uses musl, for which there are no torch wheels: the installed torch was built elsewhere",
                evidence=(seen,),
            )
        else:
            yield problem(
                f"{name} uses musl, and there are no torch wheels and no NVIDIA driver libraries for musl",
                evidence=(seen,),
                remedy=Remedy("Base the image on Debian or Ubuntu, such as python:3.12-slim")
                if facts.system.container
                else Remedy("Use a container with glibc", "docker run -it python:3.12-slim bash"),
                confidence="table",
            )
