"""WSL: a Linux driver installed inside hides the one that Windows brings."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, problem, warning
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.driver_libraries import WSL_FOLDER, hides_windows_driver, libraries, loaded_libcuda
from torchlift.doctor.facts import Facts

_GUIDE = "https://docs.nvidia.com/cuda/wsl-user-guide/"

CHECK = Check(
    id="wsl-driver",
    group="driver",
    title="WSL uses the driver of Windows",
    why=(
        "Under WSL 2 the only driver is that of Windows, seen as /usr/lib/wsl/lib/libcuda.so.1. A Linux driver installed "
        "inside finds no GPU; and where ldconfig does not list the folder, Triton fails with `AssertionError: libcuda.so "
        "cannot found!`. WSL 1 has no GPU."
    ),
    sources=(_GUIDE, "triton 3.9.0, backends/nvidia/driver.py, libcuda_dirs"),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.system.wsl == 1 and facts.torch is not None and facts.torch.cuda is not None:
        yield problem(
            "This is WSL 1, which has no GPU at all",
            evidence=(Evidence("WSL", "1", needed="2", source="/proc/version"),),
            remedy=Remedy("In Windows: convert this distribution to WSL 2", "wsl --set-version <distribution> 2"),
            link=_GUIDE,
        )
    if facts.system.wsl != 2:
        return
    library = loaded_libcuda(facts)
    if library is None:
        return
    if hides_windows_driver(facts):
        works = facts.libcuda.outcome == "ok" and facts.libcuda.devices
        yield Result(
            "warning" if works else breaks_torch(facts),
            "A Linux driver is installed inside WSL and hides the one of Windows",
            evidence=(
                Evidence(
                    "libcuda.so.1",
                    library.real_path,
                    needed=f"{WSL_FOLDER}lib/libcuda.so.1",
                    source=f"found by {library.found_by}",
                ),
            ),
            remedy=Remedy(
                "Remove the Linux driver: WSL uses that of Windows",
                "sudo apt remove --purge '^nvidia-.*' '^libnvidia-.*'",
            ),
            link=_GUIDE,
        )
    elif (
        facts.libcuda.outcome == "ok"
        and not any(copy.found_by == "ldconfig" for copy in libraries(facts))
        and facts.package("triton") is not None
    ):
        yield warning(
            "The loader's cache does not know WSL's libcuda.so.1, so Triton and torch.compile will not find it",
            evidence=(
                Evidence(
                    "libcuda.so.1",
                    f"found by {library.found_by} only",
                    needed="in the output of ldconfig -p",
                    source=library.path,
                ),
            ),
            remedy=Remedy(
                "Tell Triton the folder, in the shell's start-up file", "export TRITON_LIBCUDA_PATH=/usr/lib/wsl/lib"
            ),
            confidence="table",
        )
    else:
        yield ok("WSL uses the driver of Windows")
