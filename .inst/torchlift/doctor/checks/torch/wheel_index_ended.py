"""The index that the installed torch is from still gets new releases."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note, ok
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.derived.torch_origin import torch_origin
from torchlift.doctor.facts import Facts
from torchlift.wheels.tables import table

CHECK = Check(
    id="wheel-index-ended",
    group="torch",
    title="The wheel index still gets new releases",
    why=(
        "Upgrading with an index that has ended changes nothing and says nothing: `Requirement already satisfied`. CUDA 12 "
        "ended with torch 2.14, and with it support for Maxwell, Pascal and Volta."
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/190385",
        "https://github.com/pytorch/pytorch/pull/196249",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None or torch_origin(facts) != "release":
        return
    build = torch_build(facts.torch)
    row = next((row for row in table("indexes")["rows"] if row["build"] == build.tag and "torch" in row), None)
    if row is None or build.release is None:
        return
    newest = max(_release(item["torch"]) for item in table("releases")["rows"])
    here = max(_release(name) for name in [*row["torch"], *row["torch_secondary"]])
    if build.release > newest or here > build.release:
        return
    evidence = Evidence(
        "newest torch in the index", _spelled(here), needed=_spelled(newest), source=f"{row['source']} ({row['date']})"
    )
    if here < newest:
        yield note(
            f"The {build.tag} wheels end with torch {_spelled(here)}: torch {_spelled(newest)} needs another index",
            evidence=(evidence,),
            confidence="table",
        )
    else:
        yield ok(
            f"The {build.tag} wheels have the newest torch, {_spelled(newest)}",
            evidence=(evidence,),
            confidence="table",
        )


def _release(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def _spelled(release: tuple[int, int]) -> str:
    return f"{release[0]}.{release[1]}"
