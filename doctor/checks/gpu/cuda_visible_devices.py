"""CUDA_VISIBLE_DEVICES, read as CUDA and torch read it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.derived.driver_state import breaks_torch, has_nvidia_gpu
from torchlift.doctor.facts import Facts

_NAME = "CUDA_VISIBLE_DEVICES"
_LEADING = re.compile(r"[+-]?\d+", re.ASCII)


@dataclass(frozen=True)
class Visible:
    """What the variable lets through: entries taken, and the reason why reading stopped, "" when it did not."""

    entries: tuple[str, ...]
    stopped: str = ""


def look(facts: Facts) -> Iterator[Result]:
    value = facts.environment.get(_NAME)
    if value is None or not has_nvidia_gpu(facts):
        return
    seen = _read(facts, value)
    evidence = (Evidence(_NAME, repr(value), None, "environment"), _known(facts))
    if not seen.entries:
        yield Result(
            breaks_torch(facts),
            f"{_NAME} hides every GPU: {seen.stopped}",
            evidence,
            _remedy(facts),
        )
    elif seen.stopped:
        yield Result(
            "warning",
            f"{_NAME} lets only {', '.join(seen.entries)} through: {seen.stopped}",
            evidence,
            _remedy(facts),
        )
    elif 0 < len(seen.entries) < len(facts.gpus):
        yield Result(
            "note",
            f"{_NAME} lets {len(seen.entries)} of {len(facts.gpus)} GPUs through",
            evidence,
        )
    else:
        yield Result("ok", f"{_NAME} hides no GPU", evidence)


def hides_all(facts: Facts) -> bool:
    """The variable is set so that no program sees a GPU."""
    value = facts.environment.get(_NAME)
    return value is not None and not _read(facts, value).entries


def _read(facts: Facts, value: str) -> Visible:
    if value.startswith("MIG-"):
        known = [part.uuid for gpu in facts.gpus for part in gpu.mig_slices if part.uuid]
        return _uuids(value, "MIG-", known, bool(facts.gpus) and bool(known or not _unknown_slices(facts)))
    if value.startswith("GPU-"):
        known = [gpu.uuid for gpu in facts.gpus if gpu.uuid]
        return _uuids(value, "GPU-", known, bool(known) and len(known) == len(facts.gpus))
    return _indices(facts, value)


def _unknown_slices(facts: Facts) -> bool:
    # MIG devices that NVML may not list, as inside a container that was given only one.
    return any(gpu.mig_enabled and not gpu.mig_slices for gpu in facts.gpus)


def _uuids(value: str, prefix: str, known: list[str], complete: bool) -> Visible:
    taken: list[str] = []
    for entry in value.split(","):
        if entry in taken:
            return Visible((), f"{entry} is there twice, and then CUDA takes none")
        if not entry.startswith(prefix):
            return Visible(tuple(taken), f"{entry!r} is no UUID as those before it, and what follows is not read")
        if complete and sum(uuid.startswith(entry) for uuid in known) != 1:
            return Visible(tuple(taken), f"no GPU or MIG device here is {entry}, and what follows is not read")
        taken.append(entry)
    return Visible(tuple(taken))


def _indices(facts: Facts, value: str) -> Visible:
    taken: list[str] = []
    count = _devices(facts)
    for entry in value.split(","):
        match = _LEADING.match(entry.strip())
        number = int(match[0][:9]) if match else -1
        if str(number) in taken:
            return Visible((), f"{number} is there twice, and then CUDA takes none")
        if not entry.strip() and not taken:
            return Visible((), "it is empty")
        if number < 0:
            shown = entry.strip() or "an empty entry"
            return Visible(tuple(taken), f"{shown} is no index, and what follows is not read")
        if count is not None and number >= count:
            only = "there is 1 GPU" if count == 1 else f"there are {count} GPUs"
            return Visible(
                tuple(taken), f"there is no GPU {number} ({only}, counted from 0), and what follows is not read"
            )
        taken.append(str(number))
    return Visible(tuple(taken))


def _devices(facts: Facts) -> int | None:
    if not facts.gpus:
        return None
    # Each MIG device may count as a GPU of its own: what NVML numbers is then no bound.
    return None if any(gpu.mig_enabled for gpu in facts.gpus) else len(facts.gpus)


def _known(facts: Facts) -> Evidence:
    uuids = [part.uuid for gpu in facts.gpus for part in gpu.mig_slices if part.uuid]
    shown = f"{len(facts.gpus)} GPUs" + (f", MIG devices {', '.join(uuids)}" if uuids else "")
    return Evidence("GPUs of this machine", shown, None, "NVML")


def _remedy(facts: Facts) -> Remedy:
    uuids = [part.uuid for gpu in facts.gpus for part in gpu.mig_slices if part.uuid]
    if uuids:
        return Remedy("Name a MIG device that is here", f"export {_NAME}={shlex.quote(uuids[0])}")
    if facts.system.os == "windows":
        return Remedy("Unset it, also where the system or a script sets it", f"Remove-Item Env:{_NAME}")
    return Remedy("Unset it, also where the shell, a script or the image sets it", f"unset {_NAME}")


CHECK = Check(
    id="cuda-visible-devices",
    group="gpu",
    title="CUDA_VISIBLE_DEVICES names GPUs that are here",
    why=(
        "Programs see only the GPUs that CUDA_VISIBLE_DEVICES lists. An empty value, -1 or an index that does not exist "
        "hides all that follow, and a GPU listed twice hides all: nvidia-smi, which ignores it, looks fine, but "
        "torch says `No CUDA GPUs are available`."
    ),
    look=look,
    sources=(
        "torch/cuda/__init__.py, _parse_visible_devices, read in torch 2.13.0",
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#env-vars",
    ),
)
