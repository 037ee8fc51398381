"""CUDA_VISIBLE_DEVICES, read as CUDA and torch read it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, warning
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.cuda_visible_devices import VARIABLE, let_through
from torchlift.doctor.derived.nvidia_cards import has_nvidia_gpu
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="cuda-visible-devices",
    group="gpu",
    title="CUDA_VISIBLE_DEVICES names GPUs that are here",
    why=(
        "Programs see only the GPUs that CUDA_VISIBLE_DEVICES lists. An empty value, -1 or an index that does not exist "
        "hides all that follow, and a GPU listed twice hides all: nvidia-smi, which ignores it, looks fine, but "
        "torch says `No CUDA GPUs are available`."
    ),
    sources=(
        "torch/cuda/__init__.py, _parse_visible_devices, read in torch 2.13.0",
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#env-vars",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    value = facts.environment.get(VARIABLE)
    if value is None or not has_nvidia_gpu(facts):
        return
    seen = let_through(facts, value)
    evidence = (Evidence(VARIABLE, repr(value), source="environment"), _known(facts))
    if not seen.entries:
        yield Result(
            breaks_torch(facts),
            f"{VARIABLE} hides every GPU: {seen.stopped}",
            evidence=evidence,
            remedy=_remedy(facts),
        )
    elif seen.stopped:
        yield warning(
            f"{VARIABLE} lets only {', '.join(seen.entries)} through: {seen.stopped}",
            evidence=evidence,
            remedy=_remedy(facts),
        )
    elif 0 < len(seen.entries) < len(facts.gpus):
        yield note(
            f"{VARIABLE} lets {len(seen.entries)} of {len(facts.gpus)} GPUs through",
            evidence=evidence,
        )
    else:
        yield ok(f"{VARIABLE} hides no GPU", evidence=evidence)


def _known(facts: Facts) -> Evidence:
    uuids = [part.uuid for gpu in facts.gpus for part in gpu.mig_slices if part.uuid]
    shown = f"{len(facts.gpus)} GPUs" + (f", MIG devices {', '.join(uuids)}" if uuids else "")
    return Evidence("GPUs of this machine", shown, source="NVML")


def _remedy(facts: Facts) -> Remedy:
    uuids = [part.uuid for gpu in facts.gpus for part in gpu.mig_slices if part.uuid]
    if uuids:
        return Remedy("Name a MIG device that is here", f"export {VARIABLE}={shlex.quote(uuids[0])}")
    if facts.system.os == "windows":
        return Remedy("Unset it, also where the system or a script sets it", f"Remove-Item Env:{VARIABLE}")
    return Remedy("Unset it, also where the shell, a script or the image sets it", f"unset {VARIABLE}")
