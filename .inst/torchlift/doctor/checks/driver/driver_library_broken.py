"""Driver libraries that are there and cannot be loaded."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.driver_libraries import libraries, loader_said, unloadable
from torchlift.doctor.derived.nvidia_driver import driver_answers
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import install_driver

CHECK = Check(
    id="driver-library-broken",
    group="driver",
    title="The driver's libraries can be loaded",
    why=(
        "A failed mount in a container or a broken installation leaves a libnvidia-ml.so.1 or libcuda.so.1 of 0 bytes. "
        "The loader says `file too short`, but nvidia-ml-py hides that behind `NVML Shared Library Not Found`, and torch "
        "behind `Found no NVIDIA driver on your system`."
    ),
    sources=("nvidia-ml-py 13.615.71 with an empty library, measured 2026-11-21",),
)


def look(facts: Facts) -> Iterator[Result]:
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        if not unloadable(facts, name):
            continue
        copies = libraries(facts, name)
        shown = next((library for library in copies if library.size == 0), copies[0] if copies else None)
        cuda = name == "libcuda.so.1"
        yield Result(
            breaks_torch(facts) if cuda else "warning",
            f"{name} is there but cannot be loaded" + ("" if cuda else ", so nvidia-smi and NVML find no driver"),
            evidence=(
                Evidence("the loader", loader_said(facts, name) or "nothing", needed="loaded", source=name),
                Evidence(
                    "size",
                    f"{shown.size} bytes" if shown else "unknown",
                    needed="more than 0",
                    source=shown.path if shown else name,
                ),
            ),
            remedy=_remedy(facts),
        )
    if driver_answers(facts) and not any(unloadable(facts, name) for name in ("libcuda.so.1", "libnvidia-ml.so.1")):
        yield ok("The driver's libraries can be loaded")


def _remedy(facts: Facts) -> Remedy:
    if facts.system.container:
        return Remedy(
            "Start the container anew: the runtime mounts the host's file over an empty one, and that mount has failed; "
            "an image made by `docker commit` of such a container keeps the empty files and must be built anew"
        )
    return install_driver(facts)
