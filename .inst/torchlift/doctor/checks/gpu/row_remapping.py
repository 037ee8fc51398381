"""Memory rows replaced by spare ones (Ampere and later)."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, problem, warning
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import reset_gpu

_GUIDE = "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/"

CHECK = Check(
    id="row-remapping",
    group="gpu",
    title="No bad GPU memory waits to be replaced",
    why=(
        "GPUs since Ampere put spare rows in place of bad ones, at a reset. While that is pending (Xid 63) programs can "
        "meet the bad row again; when it has failed (Xid 64) the GPU has no spare left: `CUDA error: uncorrectable ECC "
        "error encountered` will come again."
    ),
    sources=(_GUIDE, "https://docs.nvidia.com/deploy/xid-errors/"),
)


def look(facts: Facts) -> Iterator[Result]:
    known = False
    for gpu in facts.gpus:
        replaced = gpu.remapped_rows_uncorrectable or 0
        seen = Evidence(
            f"remapped rows of GPU {gpu.index}", f"{replaced} after uncorrectable errors", needed="0", source="NVML"
        )
        if gpu.remapping_failed:
            yield problem(
                f"{gpu_label(gpu)} could not replace bad memory: it must be exchanged",
                evidence=(
                    Evidence(f"row remapping of GPU {gpu.index}", "failed", needed="not failed", source="NVML"),
                    seen,
                ),
                remedy=Remedy("Take it out of use, run NVIDIA's field diagnostic, and ask for a replacement (RMA)"),
                link=_GUIDE,
            )
        elif gpu.remapping_pending:
            yield warning(
                f"{gpu_label(gpu)} replaces bad memory at its next reset",
                evidence=(
                    Evidence(f"row remapping of GPU {gpu.index}", "pending", needed="not pending", source="NVML"),
                    seen,
                ),
                remedy=reset_gpu(facts, gpu),
                link=_GUIDE,
            )
        elif replaced > 0:
            yield note(
                f"{gpu_label(gpu)} has replaced {replaced} row{'s' * (replaced != 1)} of bad memory, which is well so far",
                evidence=(seen,),
                link=_GUIDE,
            )
        elif gpu.remapping_failed is False:
            known = True
    if known:
        yield ok("No GPU memory waits to be replaced")
