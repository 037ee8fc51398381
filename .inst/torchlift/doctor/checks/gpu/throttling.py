"""GPUs that run slower than they could."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, warning
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.facts import Facts, Gpu
from torchlift.doctor.remedies.host import at_the_host

CHECK = Check(
    id="throttling",
    group="gpu",
    title="No GPU is slowed down by heat or power",
    why=(
        "A GPU that is too hot or short of power lowers its clocks, with no error: training is just slower, and in a job "
        "over several GPUs all wait for the slowest. nvidia-smi -q shows it under `Clocks Event Reasons`."
    ),
    sources=("https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html",),
)

_HOT = {"hw-thermal-slowdown", "sw-thermal-slowdown"}
_POWER = {"hw-power-brake", "hw-slowdown"}


def look(facts: Facts) -> Iterator[Result]:
    known = False
    for gpu in facts.gpus:
        reasons = set(gpu.throttle_reasons)
        shown = Evidence(
            f"clock event reasons of GPU {gpu.index}",
            ", ".join(gpu.throttle_reasons),
            needed="none of these",
            source="NVML",
        )
        if reasons & _HOT:
            heat = f" at {gpu.temperature} degrees" if gpu.temperature is not None else ""
            yield warning(
                f"{gpu_label(gpu)} slows down because it is too hot{heat}",
                evidence=(shown,),
                remedy=Remedy("Cool it: see to its fans, the air flow and the heat of the room"),
            )
        elif reasons & _POWER:
            yield warning(
                f"{gpu_label(gpu)} is slowed down by its power supply or the board",
                evidence=(shown,),
                remedy=Remedy("Check the power cables of the card and the machine's power supply"),
            )
        elif _limited(gpu):
            yield note(
                f"{gpu_label(gpu)} is limited to {gpu.power_limit:g} W of {gpu.power_limit_default:g} W",
                evidence=(
                    Evidence(
                        f"power limit of GPU {gpu.index}",
                        f"{gpu.power_limit:g} W",
                        needed=f"{gpu.power_limit_default:g} W",
                        source="NVML",
                    ),
                ),
                remedy=_restore(facts, gpu),
            )
        elif gpu.throttle_reasons:
            known = True
    if known:
        yield ok("No GPU is slowed down by heat or power")


def _limited(gpu: Gpu) -> bool:
    limit, usual = gpu.power_limit, gpu.power_limit_default
    return limit is not None and usual is not None and 0 < limit < 0.9 * usual


def _restore(facts: Facts, gpu: Gpu) -> Remedy | None:
    if facts.system.container:
        return None
    return at_the_host(facts, "Lift it", f"sudo nvidia-smi -i {gpu.index} -pl {gpu.power_limit_default:g}")
