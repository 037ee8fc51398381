"""torch is built for the vendor of the card that is there."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, Status, ok
from torchlift.doctor.derived.intel_cards import cards_for_computing
from torchlift.doctor.derived.nvidia_cards import has_nvidia_gpu
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.derived.visible_gpus import hidden_by_environment
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.wheel_remedy import wheel_remedy
from torchlift.wheels.amd_gpus import ROCM_WHEELS, is_instinct, is_integrated

CHECK = Check(
    id="torch-other-vendor",
    group="torch",
    title="torch is built for the GPU's vendor",
    why=(
        "A CUDA build sees no AMD or Intel GPU and the other way round: `torch.cuda.is_available()` is False although the "
        "card and its driver are well."
    ),
    sources=("https://pytorch.org/get-started/locally/",),
)

_NAMES = {"nvidia": "NVIDIA's CUDA", "amd": "AMD's ROCm", "intel": "Intel's XPU"}


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None:
        return
    build = torch_build(facts.torch)
    if build.vendor == "none":
        return
    present = _present(facts)
    if not present:
        return
    seen = ", ".join(_NAMES[vendor].partition("'")[0] for vendor in present)
    evidence = Evidence(
        "torch was built for", _NAMES[build.vendor], needed=seen, source=f"{facts.torch.path}/version.py"
    )
    if build.vendor in present:
        yield ok(f"torch is built for {_NAMES[build.vendor]}, and there is such a GPU", evidence=(evidence,))
    elif not hidden_by_environment(facts):
        status = _status(facts, present)
        yield Result(
            status,
            f"torch {facts.torch.version} is built for {_NAMES[build.vendor]}, but the GPU is of {seen}",
            evidence=(evidence,),
            remedy=wheel_remedy(facts) if status != "note" else None,
        )


def _status(facts: Facts, present: list[str]) -> Status:
    """AMD's display chips, in most of its processors, are there for the screen, and so may be a card that no ROCm wheel
    has code for."""
    if present != ["amd"]:
        return "problem"
    cards = [device.architecture for device in facts.other.rocm_devices if not is_integrated(device.architecture)]
    if any(is_instinct(card) or card in ROCM_WHEELS for card in cards):
        return "problem"
    return "warning" if cards else "note"


def _present(facts: Facts) -> list[str]:
    found = []
    if has_nvidia_gpu(facts):
        found.append("nvidia")
    # An AMD card without ROCm's kernel driver still is one, so the bus counts as well.
    if facts.other.rocm_devices or any(_is_card(card.vendor, card.pci_class, "1002") for card in facts.pci or ()):
        found.append("amd")
    # Nearly every Intel processor has a display device: only a build for it makes that one count.
    wanted = facts.torch is not None and facts.torch.xpu is not None
    if cards_for_computing(facts) or (wanted and (facts.other.level_zero or _has_intel(facts))):
        found.append("intel")
    return found


def _has_intel(facts: Facts) -> bool:
    return any(_is_card(card.vendor, card.pci_class, "8086") for card in facts.pci or ())


def _is_card(vendor: str, pci_class: str, wanted: str) -> bool:
    return vendor == wanted and pci_class.startswith(("03", "12"))
