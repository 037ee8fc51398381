"""CUDA_VISIBLE_DEVICES, read as CUDA and torch read it."""

from __future__ import annotations

import re

from torchlift.doctor.facts import Facts
from torchlift.lazy_dataclass import dataclass

VARIABLE = "CUDA_VISIBLE_DEVICES"


_LEADING = re.compile(r"[+-]?\d+", re.ASCII)


@dataclass(frozen=True)
class LetThrough:
    """What the variable lets through: entries taken, and the reason why reading stopped, "" when it did not."""

    entries: tuple[str, ...]
    stopped: str = ""


def hides_all(facts: Facts) -> bool:
    """The variable is set so that no program sees a GPU."""
    value = facts.environment.get(VARIABLE)
    return value is not None and not let_through(facts, value).entries


def let_through(facts: Facts, value: str) -> LetThrough:
    """What a value of the variable lets through on this machine."""
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


def _uuids(value: str, prefix: str, known: list[str], complete: bool) -> LetThrough:
    taken: list[str] = []
    for entry in value.split(","):
        if entry in taken:
            return LetThrough((), f"{entry} is there twice, and then CUDA takes none")
        if not entry.startswith(prefix):
            return LetThrough(tuple(taken), f"{entry!r} is no UUID as those before it, and what follows is not read")
        if complete and sum(uuid.startswith(entry) for uuid in known) != 1:
            return LetThrough(tuple(taken), f"no GPU or MIG device here is {entry}, and what follows is not read")
        taken.append(entry)
    return LetThrough(tuple(taken))


def _indices(facts: Facts, value: str) -> LetThrough:
    taken: list[str] = []
    count = _devices(facts)
    for entry in value.split(","):
        match = _LEADING.match(entry.strip())
        number = int(match[0][:9]) if match else -1
        if str(number) in taken:
            return LetThrough((), f"{number} is there twice, and then CUDA takes none")
        if not entry.strip() and not taken:
            return LetThrough((), "it is empty")
        if number < 0:
            shown = entry.strip() or "an empty entry"
            return LetThrough(tuple(taken), f"{shown} is no index, and what follows is not read")
        if count is not None and number >= count:
            only = "there is 1 GPU" if count == 1 else f"there are {count} GPUs"
            return LetThrough(
                tuple(taken), f"there is no GPU {number} ({only}, counted from 0), and what follows is not read"
            )
        taken.append(str(number))
    return LetThrough(tuple(taken))


def _devices(facts: Facts) -> int | None:
    if not facts.gpus:
        return None
    # Each MIG device may count as a GPU of its own: what NVML numbers is then no bound.
    return None if any(gpu.mig_enabled for gpu in facts.gpus) else len(facts.gpus)
