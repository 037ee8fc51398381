"""torch's own advice about old GPUs names a wheel that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.derived.visible_gpus import names, visible_gpus
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="torch-advice-stale",
    group="torch",
    title="torch's advice about unsupported GPUs can be followed",
    why=(
        "On a GPU older than Turing, torch 2.15.0 prints `For CUDA 12.6 use pip install torch==2.15.0 --index-url "
        "https://download.pytorch.org/whl/cu126`. That wheel was dropped before the release; 2.14 is the last one."
    ),
    sources=(
        "_warn_unsupported_code of torch 2.15.0, called 2026-11-21",
        "https://github.com/pytorch/pytorch/pull/196249",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None or torch_build(facts.torch).release != (2, 15):
        return
    old = [gpu for gpu in visible_gpus(facts).gpus if gpu.capability is not None and gpu.capability < (7, 5)]
    if old:
        yield note(
            f"torch {facts.torch.version} will advise the cu126 index for {names(old)}, but 2.15 has no cu126 wheel",
            evidence=(
                Evidence(
                    "torch's advice",
                    "torch 2.15.0 from .../whl/cu126",
                    needed="torch 2.14, the last with cu126",
                    source="pytorch#196249",
                ),
            ),
            confidence="table",
            link="https://github.com/pytorch/pytorch/pull/196249",
            cause="gpu-architecture",
        )
