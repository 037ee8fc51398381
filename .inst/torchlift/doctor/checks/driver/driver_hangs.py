"""Driver calls that crash or never return."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.nvidia_driver import driver_answers
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.restart import restart

CHECK = Check(
    id="driver-hangs",
    group="driver",
    title="The driver answers in time",
    why=(
        "A GPU that fell off the bus, a broken NVSwitch or a driver bug makes driver calls hang or crash: nvidia-smi "
        "never returns, `import torch; torch.cuda.is_available()` hangs, and the process cannot be killed (state D)."
    ),
    sources=("Linux: a process in uninterruptible sleep ignores SIGKILL, man 1 ps, state D",),
)

_WORDS = {"timeout": "does not answer", "crashed": "crashes", "stuck": "hangs in the kernel and cannot be ended"}


def look(facts: Facts) -> Iterator[Result]:
    dead = {}
    for part, outcome in (("libcuda", facts.libcuda.outcome), ("NVML", facts.nvml.outcome)):
        stuck = next((one for one in facts.failures if one.probe == part.lower() and one.outcome in _WORDS), None)
        how = stuck.outcome if stuck else outcome
        if how in _WORDS:
            dead[part] = (how, stuck.detail if stuck else "")
    for part, (how, detail) in dead.items():
        yield Result(
            breaks_torch(facts) if part == "libcuda" else "warning",
            f"{part} {_WORDS[how]}",
            evidence=(Evidence(part, detail or how, needed="an answer", source="a process of its own"),),
            remedy=_remedy(facts, how),
            confidence="likely",
        )
    if not dead and driver_answers(facts):
        yield ok("The driver answers in time")


def _remedy(facts: Facts, how: str) -> Remedy:
    if facts.system.container:
        return Remedy("On the host: restart it; what the kernel log says of NVRM and Xid names the reason")
    if how == "crashed" and facts.system.os == "linux" and not facts.system.wsl:
        return Remedy(
            "See which library crashed; if it is the driver's, install the driver anew", "sudo dmesg | tail -n 50"
        )
    if facts.system.wsl or facts.system.os == "windows":
        return restart(facts)
    return restart(facts, "; what `sudo dmesg | grep -E 'NVRM|Xid'` says before that names the reason")
