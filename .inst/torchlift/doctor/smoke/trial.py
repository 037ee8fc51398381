"""One run of one smoke, in the process that is to survive or die with it."""

from __future__ import annotations

import math
import os
import time
import traceback
from typing import Any

from .bench import Bench
from .devices import find_devices
from .loading import load_smoke
from .smoke import BURN_SECONDS, Skip

_THREADS = 4
"""Most threads of a CPU reference: eigh took 0.7 s with 1 and 10 to 113 s with all of a loaded machine, 2026-11-22."""

NAMES = {"cuda": "NVIDIA GPUs", "rocm": "AMD GPUs", "xpu": "Intel GPUs", "mps": "Apple GPUs", "cpu": "the CPU"}


def perform(torch: Any, request: dict[str, Any], *, forked: bool) -> dict[str, Any]:
    """Answer one request: {"do": "devices"}, {"do": "ready", "device"} or {"do": "smoke", "device", "id", "file"}.

    The answer to "ready" and "smoke" has an "outcome": "pass", "fail", "skip" or "lost", with a "reason"; whatever is
    raised is a failure.
    """
    os.environ.update(request.get("environment") or {})
    # The check through NVML was for the process that must not touch CUDA; here CUDA itself shall answer.
    os.environ.pop("PYTORCH_NVML_BASED_CUDA_CHECK", None)
    if request["do"] == "devices":
        return find_devices(torch)
    # Several ranks on one machine, each with a reference that takes every core, time out.
    torch.set_num_threads(min(_THREADS, torch.get_num_threads()))
    bench = Bench(torch, request["device"], forked=forked, seconds=float(request.get("seconds") or BURN_SECONDS))
    try:
        if request["do"] == "ready":
            bench.touch()
            return {"outcome": "pass"}
        return _smoke(bench, request)
    except Exception as error:
        return _failed(error)


def _smoke(bench: Bench, request: dict[str, Any]) -> dict[str, Any]:
    smoke = load_smoke(request["id"], request.get("file"))
    if bench.kind not in smoke.kinds:
        where = " or ".join(NAMES[kind] for kind in smoke.kinds)
        return {"outcome": "skip", "reason": f"is for {where}"}
    reason = smoke.gate(bench)
    if reason:
        return {"outcome": "skip", "reason": reason}
    begun = time.perf_counter()
    if not (smoke.first_touch or smoke.once):
        try:
            bench.touch()
        except Exception as error:
            return {**_failed(error), "outcome": "lost"}
    started = time.perf_counter()
    try:
        measured = smoke.run(bench)
        if not smoke.once:
            bench.synchronize()
    except Skip as skip:
        return {"outcome": "skip", "reason": str(skip)}
    seconds = time.perf_counter() - started
    answer = {
        "outcome": "pass",
        "error": measured.error,
        "limit": measured.limit,
        "details": measured.details,
        "seconds": seconds,
        "touch": started - begun,
    }
    if measured.limit is None:
        return answer
    off = measured.error
    place = measured.details.get("worst")
    where = f" in {place}" if place else ""
    if off is None or not math.isfinite(off):
        answer.update(outcome="fail", error=None, reason=f"the result is not finite{where}")
    elif off > measured.limit:
        answer.update(outcome="fail", reason=f"wrong numbers{where}: error {off:.2g}, limit {measured.limit:.2g}")
    return answer


def _failed(error: Exception) -> dict[str, Any]:
    text = str(error).strip()
    traceback.print_exception(type(error), error, error.__traceback__)
    return {
        "outcome": "fail",
        "raised": True,
        "reason": f"{type(error).__name__}: {text}" if text else type(error).__name__,
    }
