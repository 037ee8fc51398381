"""Triton's own assembler knows the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.derived.visible_gpus import names, visible_gpus
from torchlift.doctor.facts import Facts
from torchlift.wheels.compatibility import renamed
from torchlift.wheels.tables import table

CHECK = Check(
    id="triton-ptxas",
    group="torch",
    title="Triton's assembler knows the GPU",
    why=(
        "Triton assembles with a ptxas of its own, and an old one stops torch.compile with `ptxas fatal : Value 'sm_121a' is "
        "not defined for option 'gpu-name'` on the newest GPUs (B300, Thor, DGX Spark)."
    ),
    sources=(
        "https://github.com/triton-lang/triton/issues/8539",
        "https://github.com/triton-lang/triton/issues/10331",
        "https://github.com/triton-lang/triton/pull/10462",
    ),
)

_VARIABLES = ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH")


def look(facts: Facts) -> Iterator[Result]:
    triton = facts.package("triton")
    if facts.torch is None or facts.torch.cuda is None or triton is None:
        return
    first = {tuple(row["capability"]): str(row["triton"]) for row in table("triton")["rows"]}
    asked = [gpu for gpu in visible_gpus(facts).gpus if gpu.capability and renamed(gpu.capability) in first]
    if not asked:
        return
    needed = max((first[renamed(gpu.capability)] for gpu in asked if gpu.capability is not None), key=Version)
    evidence = Evidence("triton", triton.version, needed=f"{needed} or newer", source=triton.metadata_path)
    own = next((name for name in _VARIABLES if facts.environment.get(name)), None)
    try:
        new_enough = Version(triton.version) >= Version(needed)
    except InvalidVersion:
        return
    if new_enough:
        yield ok(f"Triton {triton.version} can assemble for {names(asked)}", evidence=(evidence,), confidence="table")
    elif own is not None:
        yield ok(f"{own} names a ptxas for {names(asked)}", evidence=(evidence,), confidence="table")
    else:
        yield warning(
            f"The ptxas of Triton {triton.version} does not know {names(asked)}: torch.compile fails",
            evidence=(evidence,),
            remedy=Remedy(
                "Use the ptxas of an installed CUDA 13 toolkit, or a newer torch, which brings a newer Triton",
                "export TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas",
            ),
            confidence="table",
            link="https://github.com/triton-lang/triton/issues/8539",
        )
