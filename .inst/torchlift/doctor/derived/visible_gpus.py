"""Which NVIDIA GPUs a CUDA program started here would see, and what each can run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from torchlift.doctor.derived.naming import spelled
from torchlift.doctor.derived.nvidia_cards import known_cards, nvidia_cards
from torchlift.doctor.facts import Facts, Gpu
from torchlift.lazy_dataclass import dataclass
from torchlift.wheels.compatibility import capability


@dataclass(frozen=True)
class VisibleGpu:
    """A GPU. `capability` is (major, minor), None when it is not known; `source` says who named it."""

    name: str
    capability: tuple[int, int] | None
    source: str
    """"NVML", "libcuda" or "PCI id"."""

    def described(self) -> str:
        """Name and compute capability, for a message."""
        known = f"compute capability {spelled(self.capability)}" if self.capability else "compute capability not known"
        return f"{self.name} ({known})"


@dataclass(frozen=True)
class Visible:
    """The GPUs in view. Not `certain` when numbers in CUDA_VISIBLE_DEVICES could mean other ones of them."""

    gpus: tuple[VisibleGpu, ...] = ()
    certain: bool = True


def visible_gpus(facts: Facts) -> Visible:
    """NVIDIA's GPUs after CUDA_VISIBLE_DEVICES: libcuda's own list, else NVML's, else what the PCI bus shows.

    A capability is NVML's where it has one. The PCI bus counts when no driver answered at all.
    """
    if facts.libcuda.outcome == "ok" and facts.libcuda.devices:
        by_uuid = {gpu.uuid: gpu for gpu in facts.gpus if gpu.uuid}
        seen = []
        for device in facts.libcuda.devices:
            gpu = by_uuid.get(device.uuid or "")
            measured = capability(gpu.compute_capability) if gpu else None
            name = device.name or (gpu.name if gpu else None) or "GPU of unknown name"
            own = capability(device.compute_capability)
            seen.append(VisibleGpu(name, measured or own, "NVML" if measured else "libcuda"))
        return Visible(tuple(seen))
    if facts.gpus:
        candidates = [gpu for gpu in facts.gpus if not gpu.lost]
        named = [
            VisibleGpu(gpu.name or f"GPU {gpu.index}", capability(gpu.compute_capability), "NVML") for gpu in candidates
        ]
        return _selected(facts, named, candidates)
    return _selected(facts, _on_the_bus(facts), ())


def names(gpus: Iterable[VisibleGpu]) -> str:
    """The GPUs for a message, equal ones counted: "2 x Tesla V100 (compute capability 7.0)"."""
    counted: dict[str, int] = {}
    for gpu in gpus:
        counted[gpu.described()] = counted.get(gpu.described(), 0) + 1
    return ", ".join(f"{count} x {name}" if count > 1 else name for name, count in counted.items())


def hidden_by_environment(facts: Facts) -> bool:
    """Whether CUDA_VISIBLE_DEVICES leaves no GPU at all."""
    value = facts.environment.get("CUDA_VISIBLE_DEVICES")
    return value is not None and not _entries(value)


def _on_the_bus(facts: Facts) -> list[VisibleGpu]:
    known = {card.address: card for card in known_cards(facts)}
    found = []
    for card in nvidia_cards(facts):
        own = known.get(card.address)
        name = own.name if own else f"NVIDIA card {card.device}"
        found.append(VisibleGpu(name, own.capability if own else None, "PCI id"))
    return found


def _selected(facts: Facts, gpus: Sequence[VisibleGpu], details: Sequence[Gpu]) -> Visible:
    value = facts.environment.get("CUDA_VISIBLE_DEVICES")
    if value is None:
        return Visible(tuple(gpus))
    entries = _entries(value)
    if not entries:
        return Visible()
    if isinstance(entries[0], str):
        by_name = [next((index for index, gpu in enumerate(details) if _is_named(gpu, str(e))), None) for e in entries]
        # A name that fits nothing may be of a GPU that was not seen: better all than none.
        if None in by_name:
            return Visible(tuple(gpus), certain=False)
        return Visible(tuple(gpus[index] for index in by_name if index is not None))
    chosen: list[VisibleGpu] = []
    for entry in entries:
        if int(entry) >= len(gpus):
            break
        chosen.append(gpus[int(entry)])
    same = len({gpu.capability for gpu in gpus}) <= 1
    # NVML counts along the PCI bus and CUDA, unless told otherwise, from the fastest on.
    if same or facts.environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" or len(chosen) == len(gpus):
        return Visible(tuple(chosen))
    return Visible(tuple(gpus), certain=False)


def _is_named(gpu: Gpu, entry: str) -> bool:
    uuids = [gpu.uuid, *(part.uuid for part in gpu.mig_slices)]
    # The older form of a slice's name is MIG-GPU-<uuid of the GPU>/<instance>/<instance>.
    plain = entry.removeprefix("MIG-").partition("/")[0] if entry.startswith("MIG-GPU-") else entry
    return any(uuid is not None and uuid.startswith(plain) for uuid in uuids)


def _entries(value: str) -> list[int] | list[str]:
    """What the variable selects, as `torch.cuda._parse_visible_devices` reads it: names, or numbers up to the first that
    is none; a repeated one selects nothing."""
    parts = [part.strip() for part in value.split(",")]
    for prefix in ("GPU-", "MIG-"):
        if parts[0].startswith(prefix):
            named = []
            for part in parts:
                if not part.startswith(prefix):
                    break
                named.append(part)
            return [] if len(set(named)) < len(named) else named
    numbers: list[int] = []
    for part in parts:
        found = re.match(r"[+-]?\d{1,6}", part, re.ASCII)
        if found is None or int(found[0]) < 0:
            break
        numbers.append(int(found[0]))
    return [] if len(set(numbers)) < len(numbers) else numbers
