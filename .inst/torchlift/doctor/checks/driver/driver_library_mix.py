"""`cuInit` 803: libcuda and the kernel module do not go together."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.driver_libraries import loaded_libcuda
from torchlift.doctor.derived.kernel_module import versions_differ
from torchlift.doctor.derived.nvidia_driver import cuda_code, driver_answers
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.loader_path import hide_library
from torchlift.doctor.remedies.restart import restart

CHECK = Check(
    id="driver-library-mix",
    group="driver",
    title="libcuda goes with the kernel module",
    why=(
        "A libcuda.so of another driver than the kernel's is found first: from a CUDA compatibility package, from an "
        "image, or after an upgrade without a restart. torch says `Error 803: system has unsupported display driver / "
        "cuda driver combination`."
    ),
    sources=(
        "torch 2.15.0, error text measured with a fake libcuda, 2026-11-21",
        "https://github.com/llm-d/llm-d/issues/706",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if cuda_code(facts) != 803:
        if facts.libcuda.outcome == "ok" and driver_answers(facts):
            yield ok("libcuda and the kernel module go together")
        return
    library = loaded_libcuda(facts)
    kernel = facts.kernel_driver.version or "unknown"
    version = (library and library.version) or "unknown"
    if library is not None and library.compat:
        remedy = hide_library(facts, library, "the compatibility package's libcuda", "cuda-compat-*")
    elif facts.system.container:
        remedy = Remedy("Take the image's own libcuda.so out of it: the container runtime mounts the host's")
    else:
        remedy = restart(facts, ", so that the module of the installed driver is loaded")
    yield Result(
        breaks_torch(facts),
        f"libcuda {version} does not go with the kernel module {kernel} (error 803)",
        evidence=(
            Evidence("cuInit", "803", needed="0", source="libcuda"),
            Evidence("libcuda", version, needed=kernel, source=library.real_path if library else "the loader"),
            Evidence("kernel module", kernel, needed=version, source="/proc/driver/nvidia/version"),
        ),
        remedy=remedy,
        cause="driver-version-mismatch" if versions_differ(facts) else None,
    )
