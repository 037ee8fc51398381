"""Triton's own assembler knows the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.derived.visible_gpus import names, visible_gpus
from torchlift.doctor.facts import Facts
from torchlift.wheels.compatibility import renamed

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

_FIRST = {(10, 3): "3.6.0", (11, 0): "3.7.0", (12, 1): "3.6.0"}
"""Compute capability -> first Triton whose bundled ptxas assembles for it.

ptxas-blackwell of the wheels 3.6.0 (12.9.86), 3.7.1 (13.1.80), 3.8.0 (13.3.33) was asked for sm_103a, sm_110a and
sm_121a, 2026-11-21; 3.5.0 and 3.7.0 are from triton#10331.
"""


def look(facts: Facts) -> Iterator[Result]:
    triton = facts.package("triton")
    if facts.torch is None or facts.torch.cuda is None or triton is None:
        return
    asked = [gpu for gpu in visible_gpus(facts).gpus if gpu.capability and renamed(gpu.capability) in _FIRST]
    if not asked:
        return
    needed = max(_FIRST[renamed(gpu.capability)] for gpu in asked if gpu.capability is not None)
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


_VARIABLES = ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH")
