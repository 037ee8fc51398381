"""The examined Python gets current releases of torch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, problem
from torchlift.doctor.facts import Facts
from torchlift.wheels.tables import data_date, table

CHECK = Check(
    id="python-version",
    group="environment",
    title="Current releases of torch have wheels for this Python",
    why=(
        "pip says `No matching distribution found for torch`, or quietly takes an old release, when no wheel of the current "
        "one is for the running Python. torch 2.15 dropped Python 3.10."
    ),
    sources=("File lists of torch on PyPI, read 2026-11-21",),
)


def look(facts: Facts) -> Iterator[Result]:
    found = re.match(r"(\d{1,2})\.(\d{1,3})", facts.python.version, re.ASCII)
    if found is None or facts.python.implementation not in ("cpython", ""):
        return
    asked = found[0] + ("t" if facts.python.free_threaded else "")
    platform = _platform(facts)
    rows = [
        row for row in table("releases")["rows"] if row["platform"] == platform and _release(row["torch"]) >= (2, 0)
    ]
    if not rows:
        return
    newest = max(rows, key=lambda row: _release(row["torch"]))
    fitting = [row for row in rows if asked in row["pythons"]]
    evidence = Evidence(
        "Python", asked, needed=", ".join(newest["pythons"]), source=f"{newest['source']} ({newest['date']})"
    )
    wanted = f"torch {newest['torch']}"
    if newest in fitting:
        yield ok(f"There are wheels of {wanted} for Python {asked}", evidence=(evidence,), confidence="table")
    elif fitting:
        last = max(fitting, key=lambda row: _release(row["torch"]))["torch"]
        yield note(
            f"torch {last} is the last release for Python {asked}; {wanted} has wheels for {_span(newest['pythons'])}",
            evidence=(evidence,),
            remedy=Remedy("Make an environment with a newer Python to go beyond that"),
            confidence="table",
        )
    elif facts.torch is None:
        newer = _python(asked) > max(_python(name) for name in newest["pythons"])
        yield problem(
            f"No release of torch has wheels for Python {asked}" + (f", as of {data_date()}" if newer else ""),
            evidence=(evidence,),
            remedy=Remedy(f"Make an environment with Python {_span(newest['pythons'])}"),
            confidence="table",
        )
    else:
        yield note(
            f"Python {asked} is not in torchlift's data of {data_date()}", evidence=(evidence,), confidence="table"
        )


def _platform(facts: Facts) -> str:
    machine = facts.python.machine or facts.system.machine
    if facts.system.os == "windows":
        return "windows_amd64"
    if facts.system.os == "darwin":
        return "darwin_arm64" if machine == "aarch64" else f"darwin_{machine}"
    return f"{facts.system.os}_{machine}"


def _release(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def _python(text: str) -> tuple[int, int]:
    return _release(text.rstrip("t"))


def _span(pythons: list[str]) -> str:
    plain = sorted(_python(name) for name in pythons if not name.endswith("t"))
    first, last = plain[0], plain[-1]
    return f"{first[0]}.{first[1]} to {last[0]}.{last[1]}"
