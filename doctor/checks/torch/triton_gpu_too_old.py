"""Triton's lowest compute capability."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result
from torchlift.doctor.derived.visible_gpus import names, visible_gpus
from torchlift.doctor.facts import Facts


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None:
        return
    known = [gpu for gpu in visible_gpus(facts).gpus if gpu.capability is not None]
    old = [gpu for gpu in known if gpu.capability is not None and gpu.capability < (7, 0)]
    evidence = Evidence(
        "GPUs in view", names(old or known), "compute capability 7.0 or newer", "torch/_inductor/exc.py"
    )
    if old:
        yield Result(
            "note",
            f"torch.compile cannot use {names(old)}: Triton needs compute capability 7.0; eager mode works",
            (evidence,),
            None,
            "table",
        )
    elif known:
        yield Result("ok", f"Triton supports {names(known)}", (evidence,), None, "table")


CHECK = Check(
    "triton-gpu-too-old",
    "torch",
    "The GPUs are new enough for Triton",
    "On Maxwell and Pascal torch.compile with the default backend stops with `GPUTooOldForTriton`: Found a GPU which is "
    "too old to be supported by the triton GPU compiler. Nothing mends that but a newer card or eager mode.",
    look,
    ("GPUTooOldForTriton in torch/_inductor/exc.py of torch 2.15.0",),
)
