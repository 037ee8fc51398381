"""`cuInit` 999."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Confidence, Evidence, Remedy, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.container_devices import lost_its_devices
from torchlift.doctor.derived.kernel_module import module_not_loaded, versions_differ
from torchlift.doctor.derived.nvidia_driver import cuda_code, driver_answers
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.restart import restart

CHECK = Check(
    id="cuda-unknown-error",
    group="driver",
    title="CUDA starts without an unknown error",
    why=(
        "cuInit answers 999 when its device node /dev/nvidia-uvm is missing, or after suspend and resume. torch words it "
        "`CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable "
        "CUDA_VISIBLE_DEVICES after program start`, which is seldom the reason."
    ),
    sources=("torch 2.15.0, error text measured with a fake libcuda, 2026-11-21",),
)

_UVM = "/dev/nvidia-uvm"


def look(facts: Facts) -> Iterator[Result]:
    if cuda_code(facts) != 999:
        if facts.libcuda.outcome == "ok" and driver_answers(facts):
            yield ok("CUDA starts")
        return
    reason, remedy, confidence = _reason(facts)
    node = any(node.path == _UVM for node in facts.kernel_driver.device_nodes)
    yield Result(
        breaks_torch(facts),
        f"CUDA does not start and gives no reason (error 999): {reason}",
        evidence=(
            Evidence("cuInit", "999", needed="0", source="libcuda"),
            Evidence(_UVM, "there" if node else "missing", needed="there", source="/dev"),
            Evidence(
                "module nvidia_uvm",
                "loaded" if "nvidia_uvm" in facts.kernel_driver.modules else "not loaded",
                needed="loaded",
                source="/proc/modules",
            ),
        ),
        remedy=remedy,
        confidence=confidence,
        cause=_cause(facts),
    )


def _cause(facts: Facts) -> str | None:
    if lost_its_devices(facts):
        return "container-devices"
    if module_not_loaded(facts):
        return "driver-not-loaded"
    return "driver-version-mismatch" if versions_differ(facts) else None


def _reason(facts: Facts) -> tuple[str, Remedy, Confidence]:
    missing = not any(node.path == _UVM for node in facts.kernel_driver.device_nodes)
    if missing and facts.system.container:
        text = "On the host: `sudo nvidia-modprobe -u -c=0`; then start the container anew with --gpus all"
        return f"{_UVM} is missing in this container", Remedy(text), "likely"
    if lost_its_devices(facts):
        return "the container may no longer open its devices", Remedy("Start the container anew"), "likely"
    if facts.system.container:
        text = "On the host: see whether CUDA starts there; load nvidia_uvm anew or restart it, then this container"
        return "its device nodes are there, so it is the host's driver", Remedy(text), "likely"
    if facts.system.wsl:
        return "so under WSL after Windows was suspended or its driver changed", restart(facts), "likely"
    if "nvidia_uvm" not in facts.kernel_driver.modules and missing:
        return "the module nvidia_uvm is not loaded", Remedy("Load it", "sudo modprobe nvidia_uvm"), "likely"
    if missing:
        return f"{_UVM} is missing", Remedy("Make the device node", "sudo nvidia-modprobe -u -c=0"), "likely"
    command = "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm"
    text = "Load nvidia_uvm anew, which helps after suspend and resume; else restart"
    return "often so after suspend and resume", Remedy(text, command), "likely"
