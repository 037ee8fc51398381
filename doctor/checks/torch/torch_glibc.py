"""The C library is new enough for the installed torch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.facts import Facts

_TAG = re.compile(r"manylinux_(\d{1,3})_(\d{1,3})_", re.ASCII)


def look(facts: Facts) -> Iterator[Result]:
    package = facts.package("torch")
    if facts.system.os != "linux" or facts.torch is None or package is None:
        return
    found = [match for tag in package.tags for match in _TAG.finditer(tag)]
    if not found:
        return
    needed = min((int(match[1]), int(match[2])) for match in found)
    wanted = f"glibc {needed[0]}.{needed[1]}"
    if facts.system.libc == "musl":
        yield Result(
            "problem",
            f"torch {facts.torch.version} needs glibc, and this system has musl",
            (Evidence("C library", "musl", wanted, package.metadata_path),),
            Remedy("Use an image or system with glibc, such as Debian, Ubuntu or RHEL: no wheel of torch is for musl"),
        )
        return
    version = re.match(r"(\d{1,3})\.(\d{1,3})", facts.system.libc_version or "", re.ASCII)
    if facts.system.libc != "glibc" or version is None:
        return
    here = (int(version[1]), int(version[2]))
    evidence = Evidence("glibc", f"{here[0]}.{here[1]}", f"{wanted} or newer", package.metadata_path)
    if here < needed:
        yield Result(
            "problem",
            f"torch {facts.torch.version} needs {wanted}, and this system has {here[0]}.{here[1]}",
            (evidence,),
            Remedy("Use a newer system or container image; torch 2.6 is the last release for glibc before 2.28"),
        )
    else:
        yield Result("ok", f"glibc {here[0]}.{here[1]} is new enough for torch {facts.torch.version}", (evidence,))


CHECK = Check(
    "torch-glibc",
    "torch",
    "The C library is new enough for torch",
    "A wheel that was copied from another machine or layered into an older image fails at import with "
    "`version 'GLIBC_2.28' not found`. Wheels of torch 2.7 and later need glibc 2.28.",
    look,
    (
        "Wheel tags and versioned symbols of torch 2.0 to 2.15 on PyPI, read 2026-11-21",
        "https://peps.python.org/pep-0600/",
    ),
)
