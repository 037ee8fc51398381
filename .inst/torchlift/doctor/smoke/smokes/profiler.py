"""The profiler sees what runs on the device."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..smoke import Measurement, Signature, Smoke

_CUPTI = Signature(
    "cupti-privileges",
    r"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
    "The driver lets only root read the GPU's counters",
    "Load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0 (NVIDIA's page ERR_NVGPUCTRPERM), or run as root",
)
_NO_CUPTI = Signature(
    "no-cupti",
    r"CUPTI (initialization failed|not available)|libcupti|the profiler saw no kernel",
    "CUPTI, through which the profiler sees kernels, did not start",
    "Reinstall nvidia-cuda-cupti in torch's version; end other profilers (nsys, DCGM profiling) that hold the GPU",
    likely=True,
)

_LINKS = ("sequence numbers that differ", "flows that are not linked")

SMOKE = Smoke(
    id="profiler",
    tier="full",
    title="The profiler sees kernels on the device, and links backward to forward",
    needs="links: torch 2.13",
    reference="at least one event of the device; a product and its backward, by number and by flow",
    limits=(("kernels that are missing", 0.0), *((part, 0.0) for part in _LINKS)),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(_CUPTI, _NO_CUPTI),
)


def run(bench: Bench) -> Measurement:
    profiler = bench.module("torch.profiler")
    activity = profiler.ProfilerActivity
    activities = [activity.CPU]
    if bench.type != "cpu":
        activities.append(getattr(activity, bench.type.upper()))
    a = bench.put(bench.random(128, 128)).requires_grad_()
    with profiler.profile(activities=activities) as profile:
        (a @ a).sum().backward()
        bench.synchronize()
    events = profile.events()
    if not any("mm" in event.name for event in events):
        raise RuntimeError("the profiler did not record the matrix product")
    seen = [event for event in events if bench.type == "cpu" or "CPU" not in str(event.device_type)]
    if not seen:
        raise RuntimeError("the profiler saw no kernel on the device")
    bench.measured("kernels that are missing", 0.0, 0.0)
    if bench.version >= (2, 13):
        _links(bench, events)
    return bench.measurement(events=len(seen))


def _links(bench: Bench, events: Any) -> None:
    """The fields of `torch.autograd.profiler_util.FunctionEvent` (2.13.0 lines 800 to 817, 2.15.0 lines 817 to 833)."""
    forward = [event for event in events if event.name == "aten::mm" and event.sequence_nr >= 0]
    backward = [event for event in events if event.name == "MmBackward0"]
    numbers = {event.sequence_nr for event in forward} & {event.sequence_nr for event in backward}
    flows = {event.flow_id for event in forward if event.flow_start} & {event.flow_id for event in backward}
    bench.measured(_LINKS[0], float(not numbers), 0.0)
    bench.measured(_LINKS[1], float(not flows - {None, 0}), 0.0)
