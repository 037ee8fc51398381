"""Judge a burn: rates by datasheet, clocks and power; throttling by what NVML saw; links by what they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from torchlift.doctor.facts import Gpu
from torchlift.doctor.smoke.parent.datasheet import Card, find_card
from torchlift.doctor.smoke.parent.floor import BY_DESIGN, FAIL_BELOW, WARN_BELOW, clock_share, held_back
from torchlift.doctor.smoke.parent.nvml_watch import Sample
from torchlift.doctor.smoke.parent.outcome import SmokeResult

LINK_WARN_BELOW, LINK_FAIL_BELOW = 0.6, 0.25
"""Shares of a PCIe link's rate. Guesses until measured."""
NVLINK_WARN_BELOW, BUS_WARN_BELOW, PAIR_WARN_BELOW = 0.5, 0.4, 0.5
"""Shares of NVLink's rate one way, and of what other pairs of the same kind reach. Guesses until measured."""
FALL = 0.8
"""A rate that falls below this share of its best while it lasts is said, unless the card's power budget explains it."""
THROTTLED = 0.05
"""Share of the looks in which a reason must have been active: at the beginning of a load some are for a moment."""

THROTTLING = ("hw-slowdown", "hw-thermal-slowdown", "sw-thermal-slowdown", "hw-power-brake", "reliability")
"""Reasons for a lower clock that say that the card, its cooling or its power supply is not well."""

LANE = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}
"""Bytes a second and way of one PCIe lane by generation, coding taken off (PCI Express Base Specification 6.0; the sums for
16 lanes are those of pcisig.com/faq, read 2026-11-23)."""

_LOOK = "Look at nvidia-smi -q -d PERFORMANCE,POWER,CLOCK,TEMPERATURE while it works, and at what else runs on it"


def judge_burn(result: SmokeResult, device: dict[str, Any], gpu: Gpu | None, samples: Sequence[Sample]) -> None:
    """Say what a burn's rates amount to; changes the result's outcome and reason, and adds to its rates what is known.

    Args:
        result: of a smoke of the tier "burn".
        device: what torch says of the device.
        gpu: what NVML said of it before, when it is known which it is.
        samples: what NVML said of it while the smoke loaded it.
    """
    if result.outcome != "pass":
        return
    title = str(device.get("title") or result.device)
    card = None if result.device.startswith("MIG-") else find_card(device.get("title"), device.get("memory"))
    if card is not None:
        result.details["source"] = card.source
    told = {"burn-pcie": _link, "burn-peers": _pairs, "burn-collectives": _bus}.get(result.id, _rates)
    said = list(told(result, card, gpu, samples))
    if card is None and told is _rates:
        said.append((False, f"torchlift has no datasheet of {title}: no verdict"))
    result.details["seen"] = held_back(gpu, samples)
    # What is bad comes first.
    result.reason = "; ".join(text for _, text in sorted(said, key=lambda each: not each[0])) or None
    if not result.failed:
        result.details.update({"warning": True} if any(is_bad for is_bad, _ in said) else {})
    else:
        result.signature, result.likely, result.remedy = "below-floor", True, _LOOK
        result.cause = "; ".join(result.details["seen"]) or "Not known: nothing that NVML tells explains it"


def load_of(samples: Iterable[Sample]) -> dict[str, Any]:
    """What NVML saw during a load: median clock and power, the highest temperature, each reason's share of the looks."""
    looks = list(samples)
    if not looks:
        return {}
    clocks = [sample.sm_clock for sample in looks if sample.sm_clock]
    powers = [sample.power for sample in looks if sample.power]
    temperatures = [sample.temperature for sample in looks if sample.temperature]
    reasons = dict.fromkeys(reason for sample in looks for reason in sample.reasons if reason != "idle")
    shares = {reason: sum(reason in sample.reasons for sample in looks) / len(looks) for reason in reasons}
    found = {
        "sm_clock": median(clocks) if clocks else None,
        "power": median(powers) if powers else None,
        "temperature": max(temperatures, default=None),
        "reasons": {reason: share for reason, share in shares.items() if share >= THROTTLED},
    }
    return {name: value for name, value in found.items() if value}


def _rates(
    result: SmokeResult, card: Card | None, gpu: Gpu | None, samples: Sequence[Sample]
) -> Iterator[tuple[bool, str]]:
    """Products or memory: one sentence a rate, then what the card did under load."""
    for what, rate in result.details.get("rates", {}).items():
        during = [sample for sample in samples if rate["begun"] <= sample.time <= rate["ended"]]
        load = load_of(during)
        rate["load"] = load
        full = card.rate(what) if card is not None else None
        text = f"{what} {_shown(rate['rate'], rate['unit'])}"
        if full is None:
            yield False, text
            continue
        rate["full"], rate["share"] = full, rate["rate"] / full
        clock = clock_share(gpu, during, of_memory=what == "memory")
        bad, why = _verdict(rate["share"], clock, set(load.get("reasons", ())))
        if bad == "fail":
            result.outcome = "fail"
        yield bad is not None, f"{text} ({rate['share']:.0%} of the datasheet{why})"
    for what, rate in result.details.get("rates", {}).items():
        fell = rate["rate"] / rate["best"]
        reasons = set(rate["load"].get("reasons", ()))
        # Without a look at the clocks nobody knows whether the power budget explains it.
        if rate["load"] and fell < FALL and not (reasons and reasons <= BY_DESIGN):
            yield True, f"{what} fell to {fell:.0%} of its best while it lasted"
    tested = result.details.get("tested")
    if tested:
        size = f"{tested / 2**30:.0f} GiB" if tested >= 2**30 else f"{tested / 2**20:.0f} MiB"
        yield False, f"{size} kept every pattern"
    yield from _throttling(gpu, samples)


def _verdict(share: float, clock: float | None, reasons: set[str]) -> tuple[str | None, str]:
    """ "fail", "warn" or None, and what belongs into the sentence.

    A datasheet's rate is one at full clocks: a card that its power budget, or somebody's setting, keeps from them is not
    to blame for what the clock explains.
    """
    if share >= WARN_BELOW:
        return None, ""
    explained = clock is not None and share >= WARN_BELOW * clock
    why = "" if clock is None else f", at {clock:.0%} of its clock"
    if explained and reasons and reasons <= BY_DESIGN:
        return None, why
    return ("fail" if share < FAIL_BELOW and not explained else "warn"), why


def _throttling(gpu: Gpu | None, samples: Sequence[Sample]) -> Iterator[tuple[bool, str]]:
    load = load_of(samples)
    if not load:
        return
    values = [
        f"{load['power']:.0f} W{f' of {gpu.power_limit:.0f} W' if gpu is not None and gpu.power_limit else ''}"
        if "power" in load
        else "",
        f"{load['sm_clock']:.0f}{f' of {gpu.sm_clock_max}' if gpu is not None and gpu.sm_clock_max else ''} MHz"
        if "sm_clock" in load
        else "",
        f"up to {load['temperature']} C" if "temperature" in load else "",
    ]
    shown = ", ".join(value for value in values if value)
    reasons = load.get("reasons", {})
    bad = [f"{reason} in {share:.0%} of the looks" for reason, share in reasons.items() if reason in THROTTLING]
    if bad:
        yield True, f"it throttles: {', '.join(bad)} ({shown})"
    elif shown:
        yield False, f"under load {shown}{', at its power cap' if 'sw-power-cap' in reasons else ''}"


def _link(
    result: SmokeResult, card: Card | None, gpu: Gpu | None, samples: Sequence[Sample]
) -> Iterator[tuple[bool, str]]:
    """The link is what NVML saw while it worked: at rest its generation is lower."""
    generation = max((sample.pcie_generation or 0 for sample in samples), default=0)
    width = max((sample.pcie_width or 0 for sample in samples), default=0)
    full = LANE.get(generation, 0.0) * width or None
    for what, rate in result.details.get("rates", {}).items():
        text = f"{what} {_shown(rate['rate'], rate['unit'])}"
        if full is None or what == "both ways":
            yield False, text
            continue
        rate["full"], rate["share"] = full, rate["rate"] / full
        if rate["share"] < LINK_FAIL_BELOW:
            result.outcome = "fail"
        yield rate["share"] < LINK_WARN_BELOW, f"{text} ({rate['share']:.0%} of PCIe {generation} x{width})"
    if gpu is not None and width and gpu.pcie_width_max and width < gpu.pcie_width_max:
        yield True, f"the link has {width} lanes of {gpu.pcie_width_max} under load"
    if gpu is not None and generation and gpu.pcie_generation_max and generation < gpu.pcie_generation_max:
        yield True, f"the link runs at generation {generation} of {gpu.pcie_generation_max} under load"


def _pairs(
    result: SmokeResult, card: Card | None, gpu: Gpu | None, samples: Sequence[Sample]
) -> Iterator[tuple[bool, str]]:
    pairs = result.details.get("pairs", [])
    full = card.nvlink / 2 if card is not None and card.nvlink and _behind_switch(gpu) else None
    for direct in (True, False):
        alike = [pair for pair in pairs if pair["direct"] is direct]
        if not alike:
            continue
        usual = median(pair["rate"] for pair in alike)
        how = "directly" if direct else "through the host"
        text = f"{len(alike)} pairs copy {how}, {_shown(usual, 'B/s')} in the middle"
        if full is not None and direct:
            share = usual / full
            yield share < NVLINK_WARN_BELOW, f"{text} ({share:.0%} of NVLink one way)"
        else:
            yield False, text
        slow = [pair for pair in alike if pair["rate"] < PAIR_WARN_BELOW * usual]
        for pair in slow[:4]:
            yield True, f"GPU {pair['source']} to {pair['target']} only {_shown(pair['rate'], 'B/s')}"
        if len(slow) > 4:
            yield True, f"and {len(slow) - 4} more pairs like that"


def _bus(
    result: SmokeResult, card: Card | None, gpu: Gpu | None, samples: Sequence[Sample]
) -> Iterator[tuple[bool, str]]:
    full = card.nvlink / 2 if card is not None and card.nvlink and _behind_switch(gpu) else None
    for what, rate in result.details.get("rates", {}).items():
        text = f"{what} {_shown(rate['rate'], rate['unit'])} over {result.details.get('ranks')} ranks"
        if full is None:
            yield False, text
            continue
        rate["full"], rate["share"] = full, rate["rate"] / full
        yield rate["share"] < BUS_WARN_BELOW, f"{text} ({rate['share']:.0%} of NVLink one way)"


def _behind_switch(gpu: Gpu | None) -> bool:
    """Behind NVSwitch every pair has all of a GPU's links; with bridges a pair has some of them."""
    return gpu is not None and gpu.fabric_state == "completed"


def _shown(value: float, unit: str) -> str:
    if unit == "FLOP/s":
        return f"{value / 1e12:.3g} TFLOP/s" if value < 1e14 else f"{value / 1e12:.0f} TFLOP/s"
    return f"{value / 1e9:.3g} GB/s" if value < 1e11 else f"{value / 1e9:.0f} GB/s"
