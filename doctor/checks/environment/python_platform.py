"""The examined Python is built for this machine."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.facts import Facts


def look(facts: Facts) -> Iterator[Result]:
    python, system = facts.python, facts.system
    if python.bits == 32:
        yield Result(
            "problem",
            "This Python is a 32-bit program, and no release of torch has wheels for one",
            (Evidence("Python", "32 bits", "64 bits", python.executable),),
            Remedy("Install a 64-bit Python"),
        )
    elif python.machine and system.machine and python.machine != system.machine:
        mac = system.os == "darwin"
        yield Result(
            "warning",
            f"This Python is built for {python.machine} and runs translated on {system.machine}"
            + (": torch 2.2.2 is the last for it, without the GPU" if mac else ""),
            (Evidence("Python", python.machine, system.machine, python.executable),),
            Remedy(
                "Install a Python for arm64 and make a new environment with it"
                if mac
                else "Install a Python for this machine"
            ),
        )
    elif python.machine:
        yield Result("ok", f"Python is built for {python.machine}, as is this machine")


CHECK = Check(
    "python-platform",
    "environment",
    "Python is built for this machine",
    "An x86_64 Python on an Apple silicon Mac (under Rosetta) or a 32-bit one gets `No matching distribution found for "
    "torch` or old wheels that know no GPU: x86_64 wheels for macOS ended with torch 2.2.2.",
    look,
    ("File lists of torch on PyPI, read 2026-11-21",),
)
