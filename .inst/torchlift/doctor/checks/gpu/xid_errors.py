"""What NVIDIA's driver wrote about its GPUs into the kernel log."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, skipped, warning
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.facts import Facts, XidError

_CATALOGUE = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"

CHECK = Check(
    id="xid-errors",
    group="gpu",
    title="The kernel log has no errors of GPUs",
    why=(
        "The driver writes what goes wrong on a GPU into the kernel log, as `NVRM: Xid (PCI:0000:3b:00): 79, ...`. Programs "
        "see `CUDA error: unspecified launch failure`, `uncorrectable ECC error encountered` or a hang, and no reason."
    ),
    sources=(
        _CATALOGUE,
        "https://docs.nvidia.com/deploy/xid-errors/",
        "https://docs.nvidia.com/health-validation/reference/checks/xid (read 2026-11-23)",
    ),
)

HARDWARE = {
    46: "the GPU stopped processing",
    48: "a double-bit memory error",
    62: "its microcontroller halted",
    64: "a bad memory row could not be replaced",
    74: "an NVLink error",
    79: "it fell off the bus",
    92: "many memory errors that were corrected",
    95: "an uncontained memory error",
    119: "its firmware (GSP) did not answer",
    120: "its firmware (GSP) failed",
    140: "a memory error that was not recovered",
    143: "it could not be initialised",
}
"""Errors that a program does not cause, by their number in NVIDIA's catalogue."""

PROGRAMS = {
    13: "a program's kernel went wrong",
    31: "a program touched memory that is not its own",
    43: "a program's work was stopped",
    45: "a program's work was cleaned up",
    63: "a bad memory row is replaced at the next reset",
    94: "a memory error that ended one program",
}
"""Errors that end a program, most often by its own defect, or that the GPU has dealt with."""

_SHOWN = 100


def look(facts: Facts) -> Iterator[Result]:
    log = facts.kernel_log
    if log.source is None:
        if facts.kernel_driver.version is not None:
            yield skipped("the kernel log may not be read here (sudo dmesg | grep Xid shows what is in it)")
        return
    bad = [xid for xid in log.xids if xid.code in HARDWARE]
    for xid in bad:
        yield warning(
            f"{_where(facts, xid)} had Xid {xid.code} since the machine was started: {HARDWARE[xid.code]}",
            evidence=_evidence(log.source, xid),
            remedy=Remedy(_remedy(facts)),
            link=_CATALOGUE,
        )
    for xid in log.xids:
        if xid.code not in HARDWARE:
            meaning = PROGRAMS.get(xid.code, "NVIDIA's catalogue says what it means")
            yield note(
                f"{_where(facts, xid)} had Xid {xid.code} since the machine was started: {meaning}",
                evidence=_evidence(log.source, xid),
                link=_CATALOGUE,
            )
    if not log.xids:
        yield ok("The kernel log names no Xid error")


def _where(facts: Facts, xid: XidError) -> str:
    for gpu in facts.gpus:
        if gpu.pci_address is not None and gpu.pci_address.lower() == xid.pci_address:
            return gpu_label(gpu)
    return f"The GPU at {xid.pci_address}"


def _evidence(source: str, xid: XidError) -> tuple[Evidence, ...]:
    times = f"{xid.count} times, last: " if xid.count > 1 else ""
    return (Evidence(f"Xid {xid.code}", f"{times}{xid.text[:_SHOWN]}".strip() or "no text", source=source),)


def _remedy(facts: Facts) -> str:
    text = (
        "Look up the code in NVIDIA's catalogue; end the programs on this GPU, reset it, and prove it with --smoke burn"
    )
    return f"On the host: {text[0].lower()}{text[1:]}" if facts.system.container else text
