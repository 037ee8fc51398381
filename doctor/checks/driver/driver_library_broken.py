"""Driver libraries that are there and cannot be loaded."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.derived.driver_state import breaks_torch, driver_answers, in_container, libraries
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import install_driver

_SIGNS = ("file too short", "invalid ELF header", "wrong ELF class", "Exec format", "has no cuInit")


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
            (
                Evidence("the loader", _said(facts, name) or "nothing", "loaded", name),
                Evidence(
                    "size",
                    f"{shown.size} bytes" if shown else "unknown",
                    "more than 0",
                    shown.path if shown else name,
                ),
            ),
            _remedy(facts),
        )
    if driver_answers(facts) and not any(unloadable(facts, name) for name in ("libcuda.so.1", "libnvidia-ml.so.1")):
        yield Result("ok", "The driver's libraries can be loaded")


def unloadable(facts: Facts, name: str) -> bool:
    """Whether a file of this name is there and is no library that could be loaded."""
    outcome = facts.libcuda.outcome if name == "libcuda.so.1" else facts.nvml.outcome
    if outcome not in ("missing", "error"):
        return False
    said = _said(facts, name) or ""
    return any(library.size == 0 for library in libraries(facts, name)) or any(sign in said for sign in _SIGNS)


def _said(facts: Facts, name: str) -> str | None:
    answer = facts.libcuda if name == "libcuda.so.1" else facts.nvml
    return answer.library_error or answer.text


def _remedy(facts: Facts) -> Remedy:
    if in_container(facts):
        return Remedy(
            "Start the container anew: the runtime mounts the host's file over an empty one, and that mount has failed; "
            "an image made by `docker commit` of such a container keeps the empty files and must be built anew"
        )
    return install_driver(facts)


CHECK = Check(
    id="driver-library-broken",
    group="driver",
    title="The driver's libraries can be loaded",
    why=(
        "A failed mount in a container or a broken installation leaves a libnvidia-ml.so.1 or libcuda.so.1 of 0 bytes. "
        "The loader says `file too short`, but nvidia-ml-py hides that behind `NVML Shared Library Not Found`, and torch "
        "behind `Found no NVIDIA driver on your system`."
    ),
    look=look,
    sources=("nvidia-ml-py 13.615.71 with an empty library, measured 2026-11-21",),
)
