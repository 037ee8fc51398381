"""`cuInit` 999."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Confidence, Evidence, Remedy, Result
from torchlift.doctor.checks.driver.driver_not_loaded import module_not_loaded
from torchlift.doctor.checks.driver.driver_version_mismatch import versions_differ
from torchlift.doctor.derived.driver_state import breaks_torch, cuda_code, driver_answers, in_container
from torchlift.doctor.facts import Facts

_UVM = "/dev/nvidia-uvm"


def look(facts: Facts) -> Iterator[Result]:
    if cuda_code(facts) != 999:
        if facts.libcuda.outcome == "ok" and driver_answers(facts):
            yield Result("ok", "CUDA starts")
        return
    reason, remedy, confidence = _reason(facts)
    node = any(node.path == _UVM for node in facts.kernel_driver.device_nodes)
    yield Result(
        breaks_torch(facts),
        f"CUDA does not start and gives no reason (error 999): {reason}",
        (
            Evidence("cuInit", "999", "0", "libcuda"),
            Evidence(_UVM, "there" if node else "missing", "there", "/dev"),
            Evidence(
                "module nvidia_uvm",
                "loaded" if "nvidia_uvm" in facts.kernel_driver.modules else "not loaded",
                "loaded",
                "/proc/modules",
            ),
        ),
        remedy,
        confidence=confidence,
        cause=_cause(facts),
    )


def _cause(facts: Facts) -> str | None:
    if module_not_loaded(facts):
        return "driver-not-loaded"
    return "driver-version-mismatch" if versions_differ(facts) else None


def _reason(facts: Facts) -> tuple[str, Remedy, Confidence]:
    missing = not any(node.path == _UVM for node in facts.kernel_driver.device_nodes)
    if missing and in_container(facts):
        text = "On the host: `sudo nvidia-modprobe -u -c=0`; then start the container anew with --gpus all"
        return f"{_UVM} is missing in this container", Remedy(text), "likely"
    if "nvidia_uvm" not in facts.kernel_driver.modules and missing:
        return "the module nvidia_uvm is not loaded", Remedy("Load it", "sudo modprobe nvidia_uvm"), "likely"
    if missing:
        return f"{_UVM} is missing", Remedy("Make the device node", "sudo nvidia-modprobe -u -c=0"), "likely"
    command = "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm"
    text = "Load nvidia_uvm anew, which helps after suspend and resume; else restart"
    return "often so after suspend and resume", Remedy(text, command), "likely"


CHECK = Check(
    id="cuda-unknown-error",
    group="driver",
    title="CUDA starts without an unknown error",
    why=(
        "cuInit answers 999 when its device node /dev/nvidia-uvm is missing, or after suspend and resume. torch words it "
        "`CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable "
        "CUDA_VISIBLE_DEVICES after program start`, which is seldom the reason."
    ),
    look=look,
    sources=("torch 2.15.0, error text measured with a fake libcuda, 2026-11-21",),
)
