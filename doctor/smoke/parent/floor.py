"""Judge measured rates by the card's datasheet, beside what may hold the card back."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from torchlift.doctor.facts import Gpu
from torchlift.doctor.smoke.parent.datasheet import find_card
from torchlift.doctor.smoke.parent.nvml_watch import Sample
from torchlift.doctor.smoke.parent.outcome import SmokeResult

WARN_BELOW = 0.5
FAIL_BELOW = 0.2
"""Shares of the datasheet's rate: guesses. A healthy H200 reached 64 % to 90 % (2026-11-26), its products at the power cap."""

_RATES = {"bandwidth": "memory", "bf16-rate": "bf16"}
_WORDS = {"bandwidth": "bandwidth", "bf16-rate": "bf16 rate"}


def judge(result: SmokeResult, device: dict[str, Any], gpu: Gpu | None, samples: Sequence[Sample]) -> None:
    """Compare the rate in `result.details["rate"]` with the datasheet; changes the result's outcome and reason.

    A rate below half of the datasheet's is said, with what holds the card back; below a fifth it is a failure, unless the
    clocks that were seen meanwhile explain it: a datasheet's rate is one at full clocks, which a card of 72 W or one with
    a power cap does not reach. A card without a datasheet, and a MIG slice, get the number alone.

    Args:
        result: of the smoke.
        device: what torch says of the device.
        gpu: what NVML said of it before, when it is known which it is.
        samples: what NVML said of it while the smoke loaded it.
    """
    rate = result.details.get("rate")
    if result.outcome != "pass" or not rate:
        return
    title = str(device.get("title") or result.device)
    shown = _shown(result.id, rate)
    seen = result.details["seen"] = held_back(gpu, samples)
    card = None if result.device.startswith("MIG-") else find_card(device.get("title"), device.get("memory"))
    full = card.rate(_RATES[result.id]) if card is not None and result.id in _RATES else None
    if card is None or full is None:
        result.reason = f"{shown} (torchlift has no datasheet of {title}: no verdict)"
        return
    share = rate / full
    result.details.update(share=share, datasheet=full, source=card.source)
    result.reason = (
        f"{title} runs at {share:.0%} of its datasheet {_WORDS[result.id]} ({shown} of {_shown(result.id, full)})"
    )
    if share >= WARN_BELOW:
        return
    clock = clock_share(gpu, samples, of_memory=result.id == "bandwidth")
    if clock is not None:
        result.details["clock_share"] = clock
        result.reason += f" at {clock:.0%} of its clock"
    result.reason += f": {'; '.join(seen)}" if seen else ": nothing that NVML tells explains it"
    slowed = clock is not None and share >= WARN_BELOW * clock
    reasons = {reason for sample in samples for reason in sample.reasons} - {"idle"}
    if slowed and reasons and reasons <= BY_DESIGN:
        return
    if share < FAIL_BELOW and not slowed:
        result.outcome = "fail"
        result.signature = "below-floor"
        result.cause = (
            "; ".join(seen) or "Not known: another process may use the GPU, or it throttles between two looks"
        )
        result.likely = True
        result.remedy = "Look at nvidia-smi -q -d PERFORMANCE,POWER,CLOCK while it works, and at what else runs on it"
    else:
        result.details["warning"] = True


BY_DESIGN = frozenset({"sw-power-cap", "applications-clocks", "display-clocks", "sync-boost"})
"""Reasons for a lower clock that the card's power budget or somebody's setting explains: nothing is wrong with it."""


def clock_share(gpu: Gpu | None, samples: Sequence[Sample], *, of_memory: bool) -> float | None:
    """The clock that was seen under load, as a share of the highest that this card has; None when it is not known."""
    if of_memory:
        pairs = [(sample.memory_clock, sample.memory_clock_max) for sample in samples]
    else:
        pairs = [(sample.sm_clock, gpu.sm_clock_max if gpu is not None else None) for sample in samples]
    shares = [now / most for now, most in pairs if now and most]
    return median(shares) if shares else None


def held_back(gpu: Gpu | None, samples: Sequence[Sample]) -> list[str]:
    """What may slow this GPU down, as sentences without a full stop.

    The link's generation counts only as it was seen under load: a GPU at rest lowers it.
    """
    reasons = dict.fromkeys(reason for sample in samples for reason in sample.reasons if reason != "idle")
    said = [f"{reason} is active" for reason in reasons]
    if gpu is None:
        return said
    width = max((sample.pcie_width or 0 for sample in samples), default=0) or gpu.pcie_width
    if width and gpu.pcie_width_max and width < gpu.pcie_width_max:
        said.append(f"its PCIe link has {width} lanes of {gpu.pcie_width_max}")
    generation = max((sample.pcie_generation or 0 for sample in samples), default=0)
    if generation and gpu.pcie_generation_max and generation < gpu.pcie_generation_max:
        said.append(f"its PCIe link runs at generation {generation} of {gpu.pcie_generation_max}")
    if gpu.power_limit and gpu.power_limit_default and gpu.power_limit < gpu.power_limit_default:
        said.append(f"its power cap is {gpu.power_limit:g} W of {gpu.power_limit_default:g} W")
    elif "sw-power-cap" in reasons and gpu.power_limit:
        said.append(f"its power cap is {gpu.power_limit:g} W")
    if gpu.processes:
        said.append(f"{gpu.processes} other processes use it")
    if gpu.virtualization in ("vgpu",):
        said.append("it is a virtual GPU, and others may share the card")
    return said


def _shown(id: str, rate: float) -> str:
    return f"{rate / 1e12:.1f} TFLOP/s" if id == "bf16-rate" else f"{rate / 1e9:.0f} GB/s"
