"""GPUs of different kinds in one machine."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.facts import Facts
from torchlift.wheels.compatibility import capability

CHECK = Check(
    id="mixed-gpus",
    group="multi-gpu",
    title="The GPUs are of one kind",
    why=(
        "A job over unlike GPUs runs at the pace of the slowest and with the memory of the smallest, and a wheel must carry "
        "code for every one of them: else `no kernel image is available for execution on the device` on some ranks only. "
        "torch.nn.DataParallel warns of `an imbalance between your GPUs`."
    ),
    sources=("torch/nn/parallel/data_parallel.py, _check_balance",),
)


def look(facts: Facts) -> Iterator[Result]:
    if len(facts.gpus) < 2:
        return
    names = {gpu.name for gpu in facts.gpus if gpu.name}
    capabilities = {found for gpu in facts.gpus if (found := capability(gpu.compute_capability))}
    listed = tuple(
        Evidence(f"GPU {gpu.index}", f"{gpu.name or 'unknown'}, {gpu.compute_capability or 'unknown'}", source="NVML")
        for gpu in facts.gpus
    )
    if len(capabilities) > 1:
        shown = ", ".join(f"{major}.{minor}" for major, minor in sorted(capabilities))
        yield note(
            f"The GPUs have different compute capabilities ({shown}): the wheel needs code for each",
            evidence=listed,
            remedy=Remedy("Use only GPUs of one kind in one job: choose them with CUDA_VISIBLE_DEVICES"),
        )
    elif len(names) > 1:
        yield note(f"The GPUs are of different models: {', '.join(sorted(names))}", evidence=listed)
    else:
        yield ok(f"All {len(facts.gpus)} GPUs are of one model")
