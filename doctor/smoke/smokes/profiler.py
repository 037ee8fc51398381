"""The profiler sees what runs on the device."""

from __future__ import annotations

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

SMOKE = Smoke(
    id="profiler",
    tier="full",
    title="The profiler sees kernels on the device",
    reference="at least one event of the device",
    limits=(("kernels that are missing", 0.0),),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(_CUPTI, _NO_CUPTI),
)


def run(bench: Bench) -> Measurement:
    profiler = bench.module("torch.profiler")
    activity = profiler.ProfilerActivity
    activities = [activity.CPU]
    if bench.type != "cpu":
        activities.append(getattr(activity, bench.type.upper()))
    a = bench.put(bench.random(128, 128))
    with profiler.profile(activities=activities) as profile:
        a @ a
        bench.synchronize()
    events = profile.events()
    if not any("mm" in event.name for event in events):
        raise RuntimeError("the profiler did not record the matrix product")
    seen = [event for event in events if bench.type == "cpu" or "CPU" not in str(event.device_type)]
    if not seen:
        raise RuntimeError("the profiler saw no kernel on the device")
    bench.measured("kernels that are missing", 0.0, 0.0)
    return bench.measurement(events=len(seen))
