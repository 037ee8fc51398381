"""Memory errors that ECC could not mend, and retired pages."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, ok, warning
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import reset_gpu

_GUIDE = "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/"

CHECK = Check(
    id="ecc-errors",
    group="gpu",
    title="GPU memory is without uncorrected errors",
    why=(
        "A double-bit error ends the program that met it: `CUDA error: uncorrectable ECC error encountered`, Xid 48, 94 or "
        "95 in the kernel log. Until the GPU is reset the bad memory may be used again."
    ),
    sources=(
        _GUIDE,
        "https://docs.nvidia.com/deploy/dynamic-page-retirement/",
        "https://docs.nvidia.com/deploy/xid-errors/",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    counted = False
    for gpu in facts.gpus:
        errors = gpu.ecc_uncorrected or 0
        if errors > 0:
            yield warning(
                f"{gpu_label(gpu)} had {errors} uncorrectable memory error{'s' * (errors != 1)} since the driver was loaded",
                evidence=(
                    Evidence(f"uncorrected ECC errors of GPU {gpu.index}", str(errors), needed="0", source="NVML"),
                ),
                remedy=reset_gpu(facts, gpu),
                link=_GUIDE,
            )
        elif gpu.retired_pages_pending:
            yield warning(
                f"{gpu_label(gpu)} has bad memory pages that are retired only when it is reset",
                evidence=(Evidence(f"pending page retirement of GPU {gpu.index}", "yes", needed="no", source="NVML"),),
                remedy=reset_gpu(facts, gpu),
                link="https://docs.nvidia.com/deploy/dynamic-page-retirement/",
            )
        elif gpu.ecc_uncorrected == 0:
            counted = True
    if counted:
        yield ok("ECC met no error it could not correct")
