"""Memory on the chip beyond its threshold of errors, and banks without spare rows."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, warning
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.facts import Facts, Gpu

_GUIDE = "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/"

CHECK = Check(
    id="spare-memory",
    group="gpu",
    title="Memory errors are within what a GPU can take",
    why=(
        "A bank of memory without spare rows cannot replace the next bad one (Xid 64), and errors in the memory on the chip "
        "beyond NVIDIA's threshold mean that its field diagnostic will fail: `CUDA error: uncorrectable ECC error "
        "encountered` comes again after every reset."
    ),
    sources=(
        _GUIDE,
        "https://docs.nvidia.com/deploy/nvml-api/api/structnvmlEccSramErrorStatus__v1__t.html",
        "https://docs.nvidia.com/deploy/nvml-api/structnvmlRowRemapperHistogramValues__t.html",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    well = False
    for gpu in facts.gpus:
        found = list(_of(gpu))
        yield from found
        well = well or (not found and (gpu.sram_ecc is not None or gpu.spare_rows is not None))
    if well:
        yield ok("Memory errors are within what the GPUs can take")


def _of(gpu: Gpu) -> Iterator[Result]:
    sram, rows = gpu.sram_ecc, gpu.spare_rows
    if sram is not None and sram.threshold_exceeded:
        yield warning(
            f"{gpu_label(gpu)} has had more errors in the memory on its chip than NVIDIA lets pass",
            evidence=(
                Evidence(
                    f"uncorrected SRAM errors of GPU {gpu.index}",
                    f"{sram.uncorrected_ever}, beyond the threshold",
                    needed="below the threshold",
                    source="NVML",
                ),
            ),
            remedy=Remedy("Take it out of use, run NVIDIA's field diagnostic, and ask for a replacement (RMA)"),
            link=_GUIDE,
        )
    elif sram is not None and sram.uncorrected:
        yield warning(
            f"{gpu_label(gpu)} had {sram.uncorrected} uncorrectable errors in the memory on its chip since the driver was "
            "loaded",
            evidence=(
                Evidence(
                    f"uncorrected SRAM errors of GPU {gpu.index}", str(sram.uncorrected), needed="0", source="NVML"
                ),
            ),
            remedy=Remedy("Reset it, and prove it with --smoke burn; if they come again, have it replaced"),
            link=_GUIDE,
        )
    if rows is not None and (rows.none or rows.few):
        few, what = (rows.none, "no spare rows") if rows.none else (rows.few, "few spare rows")
        yield (warning if rows.none else note)(
            f"{gpu_label(gpu)} has {few} bank{'s' * (few != 1)} of memory with {what} left",
            evidence=(
                Evidence(
                    f"banks of GPU {gpu.index} by spare rows",
                    f"all {rows.all}, most {rows.most}, some {rows.some}, few {rows.few}, none {rows.none}",
                    needed="none 0",
                    source="NVML",
                ),
            ),
            remedy=Remedy("Plan to have it replaced: the next bad row of such a bank cannot be") if rows.none else None,
            link=_GUIDE,
        )
