"""Memory rows replaced by spare ones (Ampere and later)."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.checks.gpu.ecc_errors import reset_gpu
from torchlift.doctor.derived.driver_state import gpu_label
from torchlift.doctor.facts import Facts

_GUIDE = "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/"


def look(facts: Facts) -> Iterator[Result]:
    known = False
    for gpu in facts.gpus:
        replaced = gpu.remapped_rows_uncorrectable or 0
        seen = Evidence(f"remapped rows of GPU {gpu.index}", f"{replaced} after uncorrectable errors", "0", "NVML")
        if gpu.remapping_failed:
            yield Result(
                "problem",
                f"{gpu_label(gpu)} could not replace bad memory: it must be exchanged",
                (Evidence(f"row remapping of GPU {gpu.index}", "failed", "not failed", "NVML"), seen),
                Remedy("Take it out of use, run NVIDIA's field diagnostic, and ask for a replacement (RMA)"),
                link=_GUIDE,
            )
        elif gpu.remapping_pending:
            yield Result(
                "warning",
                f"{gpu_label(gpu)} replaces bad memory at its next reset",
                (Evidence(f"row remapping of GPU {gpu.index}", "pending", "not pending", "NVML"), seen),
                reset_gpu(facts, gpu),
                link=_GUIDE,
            )
        elif replaced > 0:
            yield Result(
                "note",
                f"{gpu_label(gpu)} has replaced {replaced} row{'s' * (replaced != 1)} of bad memory, which is well so far",
                (seen,),
                link=_GUIDE,
            )
        elif gpu.remapping_failed is False:
            known = True
    if known:
        yield Result("ok", "No GPU memory waits to be replaced")


CHECK = Check(
    id="row-remapping",
    group="gpu",
    title="No bad GPU memory waits to be replaced",
    why=(
        "GPUs since Ampere put spare rows in place of bad ones, at a reset. While that is pending (Xid 63) programs can "
        "meet the bad row again; when it has failed (Xid 64) the GPU has no spare left: `CUDA error: uncorrectable ECC "
        "error encountered` will come again."
    ),
    look=look,
    sources=(_GUIDE, "https://docs.nvidia.com/deploy/xid-errors/"),
)
