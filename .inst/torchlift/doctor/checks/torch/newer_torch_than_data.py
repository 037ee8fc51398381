"""The tables know the installed torch."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note, ok
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.facts import Facts
from torchlift.wheels.tables import data_date, table

CHECK = Check(
    id="newer-torch-than-data",
    group="torch",
    title="torchlift's data knows the installed torch",
    why=(
        "Advice about a release that the tables do not know would be a guess. Updating torchlift brings newer tables; what "
        "is read from the installed files needs none."
    ),
    sources=("torchlift's own tables, see src/torchlift/wheels/data",),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None:
        return
    release = torch_build(facts.torch).release
    if release is None:
        return
    known = max((tuple(map(int, row["torch"].split("."))) for row in table("releases")["rows"]), default=(0, 0))
    newest = ".".join(map(str, known))
    evidence = Evidence(
        "torch", facts.torch.version, needed=f"{newest} or older", source=f"torchlift's data of {data_date()}"
    )
    if release > known:
        yield note(
            f"torch {facts.torch.version} is newer than torchlift's data of {data_date()}: only what was measured on "
            "this machine counts",
            evidence=(evidence,),
            confidence="table",
        )
    else:
        yield ok(f"torchlift's data knows torch {release[0]}.{release[1]}", evidence=(evidence,), confidence="table")
