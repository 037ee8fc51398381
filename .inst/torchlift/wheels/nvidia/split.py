"""Several wheels for several kinds of GPU in one machine."""

from __future__ import annotations

from torchlift.wheels import drivers
from torchlift.wheels.answer import Answer
from torchlift.wheels.nvidia.case import NvidiaCase, NvidiaGpu
from torchlift.wheels.nvidia.choice import nvidia_choice
from torchlift.wheels.nvidia.upgrade import upgrade_to


def split(case: NvidiaCase) -> Answer | None:
    """Several wheels for several kinds of GPU; None where that serves no GPU or there is one kind only."""
    if len({gpu.capability for gpu in case.gpus}) < 2:
        return None
    parts, left = _parts(case)
    upgrade = None
    if left and case.driver.known:
        later, later_left = _parts(case.with_driver(None))
        if len(later_left) < len(left):
            upgrade = _driver_for(case, later)
            if upgrade is not None:
                parts, left = _parts(case.with_driver(upgrade))
    if not parts:
        return None
    shown = tuple((tuple(gpu.name for gpu in part.gpus), nvidia_choice(part, part.usable()[0])) for part in parts)
    reasons = [
        f"{part.names}: torch {choice.torch} ({choice.build})" for part, (_, choice) in zip(parts, shown, strict=True)
    ]
    reasons.append("CUDA_VISIBLE_DEVICES shows each environment its own GPUs and no others")
    if left:
        names = ", ".join(dict.fromkeys(gpu.label for gpu in left))
        reasons.append(f"no wheel of {case.wish} serves {names}: hide it with CUDA_VISIBLE_DEVICES")
    environments = f"{len(parts)} environments" if len(parts) > 1 else "one environment without the others"
    summary = f"No single wheel of {case.wish} runs on all of {case.names}: use {environments} and CUDA_VISIBLE_DEVICES"
    if upgrade is not None:
        summary += f", after an upgrade from {case.driver.text} to {upgrade} or newer"
        return Answer("upgrade-driver", summary, upgrade_driver=upgrade, parts=shown, reasons=tuple(reasons))
    return Answer("split", summary, parts=shown, reasons=tuple(reasons))


def _parts(case: NvidiaCase) -> tuple[list[NvidiaCase], list[NvidiaGpu]]:
    """Groups of GPUs, each with a wheel, and the GPUs without one: the best wheel takes all that it can."""
    left = list(case.gpus)
    parts: list[NvidiaCase] = []
    without: list[NvidiaGpu] = []
    while left:
        alone = {gpu: case.with_gpus((gpu,)).usable() for gpu in left}
        without += [gpu for gpu in left if not alone[gpu]]
        left = [gpu for gpu in left if alone[gpu]]
        if left:
            best = max((alone[gpu][0] for gpu in left), key=case.rank)
            group = tuple(gpu for gpu in left if best in alone[gpu])
            parts.append(case.with_gpus(group))
            left = [gpu for gpu in left if gpu not in group]
    return parts, without


def _driver_for(case: NvidiaCase, parts: list[NvidiaCase]) -> str | None:
    needs = [upgrade_to(case.with_gpus(part.gpus), part.usable())[0] for part in parts]
    return max((needed for needed in needs if needed), key=drivers.parts, default=None)
