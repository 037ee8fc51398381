"""Triton's lowest compute capability."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note, ok
from torchlift.doctor.derived.visible_gpus import names, visible_gpus
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="triton-gpu-too-old",
    group="torch",
    title="The GPUs are new enough for Triton",
    why=(
        "On Maxwell and Pascal torch.compile with the default backend stops with `GPUTooOldForTriton`: Found a GPU which is "
        "too old to be supported by the triton GPU compiler. Nothing mends that but a newer card or eager mode."
    ),
    sources=("GPUTooOldForTriton in torch/_inductor/exc.py of torch 2.15.0",),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None:
        return
    known = [gpu for gpu in visible_gpus(facts).gpus if gpu.capability is not None]
    old = [gpu for gpu in known if gpu.capability is not None and gpu.capability < (7, 0)]
    evidence = Evidence(
        "GPUs in view", names(old or known), needed="compute capability 7.0 or newer", source="torch/_inductor/exc.py"
    )
    if old:
        yield note(
            f"torch.compile cannot use {names(old)}: Triton needs compute capability 7.0; eager mode works",
            evidence=(evidence,),
            confidence="table",
        )
    elif known:
        yield ok(f"Triton supports {names(known)}", evidence=(evidence,), confidence="table")
