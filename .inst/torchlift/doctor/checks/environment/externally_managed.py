"""pip may install into the examined Python."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="externally-managed",
    group="environment",
    title="pip may install into this environment",
    why=(
        "On current Debian, Ubuntu and Homebrew, pip outside of a virtual environment stops with `error: "
        "externally-managed-environment`. --break-system-packages does what its name says."
    ),
    sources=("https://packaging.python.org/en/latest/specifications/externally-managed-environments/",),
)


def look(facts: Facts) -> Iterator[Result]:
    python = facts.python
    if python.externally_managed is None:
        return
    evidence = Evidence(
        "EXTERNALLY-MANAGED", str(python.externally_managed), needed="False", source=python.prefix or python.executable
    )
    if python.externally_managed and not python.virtual_environment:
        yield note(
            f"{python.executable or 'This Python'} belongs to the operating system: pip refuses to install into it",
            evidence=(evidence,),
            remedy=Remedy(
                "Make a virtual environment and install torch there", "python3 -m venv .venv && . .venv/bin/activate"
            ),
        )
    else:
        yield ok("pip may install into this environment", evidence=(evidence,))
