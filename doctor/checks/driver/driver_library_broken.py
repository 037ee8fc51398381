"""Driver libraries that are there and cannot be loaded."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.driver_install import install_driver
from torchlift.doctor.driver_state import breaks_torch, driver_answers, in_container, libraries
from torchlift.doctor.facts import DriverLibrary, Facts


def look(facts: Facts) -> Iterator[Result]:
    found = False
    for name, outcome, said in (
        ("libcuda.so.1", facts.libcuda.outcome, facts.libcuda.library_error),
        ("libnvidia-ml.so.1", facts.nvml.outcome, facts.nvml.library_error),
    ):
        copies = libraries(facts, name)
        empty = next((library for library in copies if library.size == 0), None)
        if outcome not in ("missing", "error") or not _broken(said, empty):
            continue
        found = True
        cuda = name == "libcuda.so.1"
        shown = empty or (copies[0] if copies else None)
        yield Result(
            breaks_torch(facts) if cuda else "warning",
            f"{name} is there but cannot be loaded" + ("" if cuda else ", so nvidia-smi and NVML find no driver"),
            (
                Evidence("the loader", said or "nothing", "loaded", name),
                Evidence(
                    "size", f"{shown.size} bytes" if shown else "unknown", "more than 0", shown.path if shown else name
                ),
            ),
            _remedy(facts),
        )
    if not found and driver_answers(facts):
        yield Result("ok", "The driver's libraries can be loaded")


def _broken(said: str | None, empty: DriverLibrary | None) -> bool:
    if empty is not None:
        return True
    return any(
        sign in (said or "") for sign in ("file too short", "invalid ELF header", "wrong ELF class", "Exec format")
    )


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
