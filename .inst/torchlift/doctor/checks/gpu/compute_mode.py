"""GPUs set to refuse programs."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, problem, warning
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.facts import Facts, Gpu
from torchlift.doctor.remedies.host import at_the_host

CHECK = Check(
    id="compute-mode",
    group="gpu",
    title="The GPUs admit programs",
    why=(
        "In compute mode PROHIBITED a GPU refuses every program, in EXCLUSIVE_PROCESS every program but the first: `CUDA "
        "error: CUDA-capable device(s) is/are busy or unavailable`. Exclusive mode is right under MPS."
    ),
    sources=(
        "https://docs.nvidia.com/deploy/nvidia-smi/index.html (compute mode)",
        "https://docs.nvidia.com/deploy/mps/",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    known = False
    for gpu in facts.gpus:
        mode = gpu.compute_mode or ""
        seen = Evidence(f"compute mode of GPU {gpu.index}", mode, needed="default", source="NVML")
        if mode == "prohibited":
            yield problem(
                f"{gpu_label(gpu)} is set to refuse every CUDA program", evidence=(seen,), remedy=_remedy(facts, gpu)
            )
        elif mode.startswith("exclusive") and (gpu.processes or 0) > 0:
            yield warning(
                f"{gpu_label(gpu)} admits one program at a time, and one is there",
                evidence=(
                    seen,
                    Evidence(f"programs on GPU {gpu.index}", str(gpu.processes), needed="0", source="NVML"),
                ),
                remedy=_remedy(facts, gpu),
                confidence="likely",
            )
        elif mode.startswith("exclusive"):
            yield note(f"{gpu_label(gpu)} admits one program at a time", evidence=(seen,))
        elif mode == "default":
            known = True
    if known:
        yield ok("The GPUs admit several programs")


def _remedy(facts: Facts, gpu: Gpu) -> Remedy:
    return at_the_host(facts, "Set it to admit programs", f"sudo nvidia-smi -i {gpu.index} -c DEFAULT")
