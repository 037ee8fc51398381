"""PYTHONPATH brings in no other torch."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, warning
from torchlift.doctor.derived.paths import path_entries, within
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="pythonpath-torch",
    group="environment",
    title="PYTHONPATH does not decide which torch is imported",
    why=(
        "PYTHONPATH comes before every installed package: a checkout or a module system's torch then shadows the one that pip "
        "shows, and extensions fail with `undefined symbol`."
    ),
    sources=("https://docs.python.org/3/using/cmdline.html#envvar-PYTHONPATH",),
)


def look(facts: Facts) -> Iterator[Result]:
    entries = path_entries(facts, "PYTHONPATH")
    if facts.torch is None or not entries:
        return
    entry = next((entry for entry in entries if within(facts.torch.path, entry)), None)
    evidence = Evidence(
        "PYTHONPATH", facts.environment["PYTHONPATH"], needed="no folder with a torch", source=facts.torch.path
    )
    inside = facts.python.prefix is not None and within(facts.torch.path, facts.python.prefix)
    if entry is None or inside:
        yield ok("PYTHONPATH does not decide which torch is imported", evidence=(evidence,))
    elif facts.torch.other_copies:
        yield warning(
            f"PYTHONPATH puts the torch of {entry} before that of the environment",
            evidence=(evidence,),
            remedy=Remedy("Unset it, or take that folder out of it", "unset PYTHONPATH"),
        )
    else:
        yield note(f"torch comes from {entry} by way of PYTHONPATH", evidence=(evidence,))
