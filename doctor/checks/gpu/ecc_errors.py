"""Memory errors that ECC could not mend, and retired pages."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.derived.driver_state import gpu_label, in_container
from torchlift.doctor.facts import Facts, Gpu

_GUIDE = "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/"


def look(facts: Facts) -> Iterator[Result]:
    counted = False
    for gpu in facts.gpus:
        errors = gpu.ecc_uncorrected or 0
        if errors > 0:
            yield Result(
                "warning",
                f"{gpu_label(gpu)} had {errors} uncorrectable memory error{'s' * (errors != 1)} since the driver was loaded",
                (Evidence(f"uncorrected ECC errors of GPU {gpu.index}", str(errors), "0", "NVML"),),
                reset_gpu(facts, gpu),
                link=_GUIDE,
            )
        elif gpu.retired_pages_pending:
            yield Result(
                "warning",
                f"{gpu_label(gpu)} has bad memory pages that are retired only when it is reset",
                (Evidence(f"pending page retirement of GPU {gpu.index}", "yes", "no", "NVML"),),
                reset_gpu(facts, gpu),
                link="https://docs.nvidia.com/deploy/dynamic-page-retirement/",
            )
        elif gpu.ecc_uncorrected == 0:
            counted = True
    if counted:
        yield Result("ok", "ECC met no error it could not correct")


def reset_gpu(facts: Facts, gpu: Gpu) -> Remedy:
    """The remedy that resets one GPU after the programs on it have ended."""
    if in_container(facts):
        return Remedy(f"On the host: end the programs on GPU {gpu.index} and reset it (nvidia-smi --gpu-reset)")
    where = gpu.uuid or str(gpu.index)
    return Remedy("End the programs that use it, then reset it", f"sudo nvidia-smi --gpu-reset -i {where}")


CHECK = Check(
    id="ecc-errors",
    group="gpu",
    title="GPU memory is without uncorrected errors",
    why=(
        "A double-bit error ends the program that met it: `CUDA error: uncorrectable ECC error encountered`, Xid 48, 94 or "
        "95 in the kernel log. Until the GPU is reset the bad memory may be used again."
    ),
    look=look,
    sources=(
        _GUIDE,
        "https://docs.nvidia.com/deploy/dynamic-page-retirement/",
        "https://docs.nvidia.com/deploy/xid-errors/",
    ),
)
