"""GPUs divided into MIG devices."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.naming import gpu_label, gpu_list
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="mig",
    group="gpu",
    title="A GPU in MIG mode has MIG devices",
    why=(
        "With MIG on, programs see MIG devices, never the whole GPU, and each process only one of them; without any, torch "
        "says `No CUDA GPUs are available`. Inside a MIG device NVML refuses some calls, and when torch's allocator runs "
        "out of memory it may then fail with `NVML_SUCCESS == r INTERNAL ASSERT FAILED` instead of `OutOfMemoryError`."
    ),
    sources=(
        "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",
        "https://github.com/pytorch/pytorch/issues/197312",
        "https://github.com/pytorch/pytorch/issues/112377",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    divided = [gpu for gpu in facts.gpus if gpu.mig_enabled]
    bare = [gpu for gpu in divided if not gpu.mig_slices]
    if bare and not facts.libcuda.devices:
        yield Result(
            breaks_torch(facts),
            f"MIG is on, but {gpu_list(bare)} has no MIG device: there is nothing a program could use",
            evidence=tuple(
                Evidence(f"MIG devices of GPU {gpu.index}", "none", needed="at least one", source="NVML")
                for gpu in bare
            ),
            remedy=Remedy("On the host: make MIG devices, or switch MIG off")
            if facts.system.container
            else Remedy(f"Switch MIG off for {gpu_label(bare[0])}", f"sudo nvidia-smi -i {bare[0].index} -mig 0"),
            link="https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",
        )
    for gpu in divided:
        if gpu.mig_slices:
            yield note(
                f"{gpu_label(gpu)} is divided into {len(gpu.mig_slices)} MIG device{'s' * (len(gpu.mig_slices) != 1)}, "
                "of which a program sees one",
                evidence=tuple(
                    Evidence("MIG device", part.uuid or "no UUID", source=part.name or "NVML")
                    for part in gpu.mig_slices
                ),
                remedy=Remedy("Choose one by its UUID in CUDA_VISIBLE_DEVICES"),
                link="https://github.com/pytorch/pytorch/issues/197312",
            )
    if facts.gpus and not divided and any(gpu.mig_enabled is False for gpu in facts.gpus):
        yield ok("No GPU is divided")
