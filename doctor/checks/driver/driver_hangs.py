"""Driver calls that crash or never return."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.derived.driver_state import breaks_torch, driver_answers, in_container
from torchlift.doctor.facts import Facts

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
            (Evidence(part, detail or how, "an answer", "a process of its own"),),
            _remedy(facts, how),
            confidence="likely",
        )
    if not dead and driver_answers(facts):
        yield Result("ok", "The driver answers in time")


def _remedy(facts: Facts, how: str) -> Remedy:
    if in_container(facts):
        return Remedy("On the host: restart it; what the kernel log says of NVRM and Xid names the reason")
    if how == "crashed":
        return Remedy(
            "See which library crashed; if it is the driver's, install the driver anew", "sudo dmesg | tail -n 50"
        )
    return Remedy("Restart; what `sudo dmesg | grep -E 'NVRM|Xid'` says before that names the reason", "sudo reboot")


CHECK = Check(
    id="driver-hangs",
    group="driver",
    title="The driver answers in time",
    why=(
        "A GPU that fell off the bus, a broken NVSwitch or a driver bug makes driver calls hang or crash: nvidia-smi "
        "never returns, `import torch; torch.cuda.is_available()` hangs, and the process cannot be killed (state D)."
    ),
    look=look,
    sources=("Linux: a process in uninterruptible sleep ignores SIGKILL, man 1 ps, state D",),
)
