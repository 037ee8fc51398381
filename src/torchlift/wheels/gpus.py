"""NVIDIA's GPUs by PCI device id and by the names people use.

The table is data/gpus.tsv, its sources are in its first lines. What NVML says of a GPU beats it.
"""

from __future__ import annotations

import re
from functools import cache

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.wheels.compatibility import capability as read_capability
from torchlift.wheels.tables import text

_BRANDS = frozenset({"nvidia", "geforce", "tesla", "graphics", "gpu", "card"})
_VARIANT = lazy_pattern(r"\d+gb|sxm\d*|pcie|pci|nvl\d*|hbm\d*e?|dgxs|fhhl")
_ALIASES = {"dgx spark": "gb10", "spark": "gb10", "jetson thor": "thor", "drive thor": "thor"}
_OTHER_VENDORS = (
    (lazy_pattern(r"\b(amd|radeon|instinct|mi\d{2,3}[a-z]?|rx ?\d{3,4}[a-z]*|strix halo|vega|gfx\d+[a-f]?)\b"), "amd"),
    (
        lazy_pattern(
            r"\b(intel|arc|battlemage|ponte vecchio|data center gpu (max|flex)|max 1[1357]\d0|flex 1[47]0|iris|uhd)\b"
        ),
        "intel",
    ),
    (lazy_pattern(r"\b(apple|m[1-9]( (pro|max|ultra))?)\b"), "apple"),
)


@dataclass(frozen=True)
class KnownGpu:
    """A GPU model. `capability` is None for GPUs that are not NVIDIA's."""

    name: str
    capability: tuple[int, int] | None
    architecture: str = ""
    """"Ampere"."""
    chip: str = ""
    """"GA102"."""
    pci_device: str = ""
    """Four hexadecimal digits, lower case; "" for the GPUs of Jetson modules."""
    vendor: str = "nvidia"


@dataclass(frozen=True)
class Lookup:
    """What a name stands for: one GPU, or several with different compute capabilities, or none."""

    gpu: KnownGpu | None
    ambiguous: tuple[KnownGpu, ...] = ()
    """One GPU for each compute capability that the name may mean."""
    suggestions: tuple[str, ...] = ()
    """Known names close to an unknown one."""


def by_pci_device(device: str) -> KnownGpu | None:
    """The GPU with this PCI device id ("1db6", "0x1DB6"); None when the table has it not."""
    return _by_device().get(device.strip().lower().removeprefix("0x"))


def by_name(name: str) -> Lookup:
    """What "V100", "RTX 4090", "Tesla V100-SXM2-32GB" or "sm_90" means.

    The whole name counts before a part of it: "GTX 1080" is not the GTX 1080 Ti. A part that fits several GPUs of one
    compute capability is no ambiguity, for that is all that a wheel depends on; the answer then bears the name asked for.
    """
    found = read_capability(name) if re.search(r"sm_|compute_|^\s*\d+\.\d[af]?\s*$", name) else None
    if found is not None:
        return Lookup(KnownGpu(f"GPU of compute capability {found[0]}.{found[1]}", found))
    words = _words(name)
    if not words:
        return Lookup(None)
    for wanted in (words, tuple(word for word in words if not _VARIANT.fullmatch(word))):
        matches = _matches(wanted)
        if matches:
            return _one_or_many(" ".join(name.split()), matches)
    lowered = " ".join(re.findall(r"[a-z0-9]+", name.lower()))
    for pattern, vendor in _OTHER_VENDORS:
        if pattern.search(lowered):
            return Lookup(KnownGpu(" ".join(name.split()), None, vendor=vendor))
    return Lookup(None, suggestions=_close(words))


def is_known(capability: tuple[int, int]) -> bool:
    """Whether the table has a GPU of this compute capability."""
    return capability in _capabilities()


def architecture(capability: tuple[int, int]) -> str | None:
    """The generation's name, "Volta" for 7.0."""
    return next((gpu.architecture.partition(" (")[0] for gpu in _table() if gpu.capability == capability), None)


def _one_or_many(name: str, matches: tuple[KnownGpu, ...]) -> Lookup:
    by_capability = {gpu.capability: gpu for gpu in reversed(matches)}
    if len(by_capability) > 1:
        return Lookup(None, ambiguous=tuple(reversed(by_capability.values())))
    first = matches[0]
    shown = first.name if len({gpu.name for gpu in matches}) == 1 else name
    return Lookup(KnownGpu(shown, first.capability, first.architecture, first.chip, first.pci_device))


def _matches(words: tuple[str, ...]) -> tuple[KnownGpu, ...]:
    if not words:
        return ()
    wanted = frozenset(words)
    exact = tuple(gpu for gpu, known in _named() if known == words)
    return exact or tuple(gpu for gpu, known in _named() if wanted <= frozenset(known))


def _words(name: str) -> tuple[str, ...]:
    lowered = " ".join(re.findall(r"[a-z0-9]+", name.lower()))
    lowered = re.sub(r"\b(rtx|gtx)(?=\d)", r"\1 ", lowered)
    lowered = re.sub(r"\b(\d{3,4})(ti|super)\b", r"\1 \2", lowered)
    words = " ".join(word for word in lowered.split() if word not in _BRANDS)
    return tuple(_ALIASES.get(words, words).split())


def _close(words: tuple[str, ...]) -> tuple[str, ...]:
    """Known names like an unknown one, those with the same characters in another order first ("4900" and "4090")."""
    wanted = " ".join(words)
    names: dict[str, str] = {}
    for gpu, known in _named():
        model = " ".join(word for word in known if not _VARIANT.fullmatch(word))
        names.setdefault(model, " ".join(word for word in gpu.name.split() if not _VARIANT.search(word.lower())))
    from difflib import get_close_matches

    close = get_close_matches(wanted, names, n=12, cutoff=0.7)
    close.sort(key=lambda name: sorted(name) != sorted(wanted))
    return tuple(dict.fromkeys(names[found] for found in close))[:5]


@cache
def _table() -> tuple[KnownGpu, ...]:
    rows = (line.split("\t") for line in text("gpus.tsv").splitlines() if line and not line.startswith("#"))
    return tuple(
        KnownGpu(name.strip(), read_capability(number), generation, chip, device.lower())
        for device, chip, number, generation, name in rows
        if read_capability(number) is not None
    )


@cache
def _by_device() -> dict[str, KnownGpu]:
    return {gpu.pci_device: gpu for gpu in _table() if gpu.pci_device}


@cache
def _named() -> tuple[tuple[KnownGpu, tuple[str, ...]], ...]:
    return tuple((gpu, _words(gpu.name)) for gpu in _table())


@cache
def _capabilities() -> frozenset[tuple[int, int] | None]:
    return frozenset(gpu.capability for gpu in _table())
