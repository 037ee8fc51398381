"""The examined Python is built for this machine."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, problem, warning
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="python-platform",
    group="environment",
    title="Python is built for this machine",
    why=(
        "An x86_64 Python on an Apple silicon Mac (under Rosetta) or a 32-bit one gets `No matching distribution found for "
        "torch` or old wheels that know no GPU: x86_64 wheels for macOS ended with torch 2.2.2."
    ),
    sources=("File lists of torch on PyPI, read 2026-11-21",),
)


def look(facts: Facts) -> Iterator[Result]:
    python, system = facts.python, facts.system
    if python.bits == 32:
        yield problem(
            "This Python is a 32-bit program, and no release of torch has wheels for one",
            evidence=(Evidence("Python", "32 bits", needed="64 bits", source=python.executable),),
            remedy=Remedy("Install a 64-bit Python"),
        )
    elif python.machine and system.machine and python.machine != system.machine:
        mac = system.os == "darwin"
        yield warning(
            f"This Python is built for {python.machine} and runs translated on {system.machine}"
            + (": torch 2.2.2 is the last for it, without the GPU" if mac else ""),
            evidence=(Evidence("Python", python.machine, needed=system.machine, source=python.executable),),
            remedy=Remedy(
                "Install a Python for arm64 and make a new environment with it"
                if mac
                else "Install a Python for this machine"
            ),
        )
    elif python.machine:
        yield ok(f"Python is built for {python.machine}, as is this machine")
