"""CUDA's forward-compatibility package on a GPU it is not for."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.driver_libraries import libraries, loaded_libcuda
from torchlift.doctor.derived.naming import cuda_text
from torchlift.doctor.derived.nvidia_driver import cuda_code
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.loader_path import hide_library

_PAGE = "https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html"

CHECK = Check(
    id="compat-package",
    group="driver",
    title="No CUDA compatibility package on a GPU it is not for",
    why=(
        "Packages named cuda-compat, and `/usr/local/cuda*/compat` on LD_LIBRARY_PATH in many images, put a newer "
        "libcuda before the driver's. Only data-centre GPUs may use it: on a GeForce torch says `Error 804: forward "
        "compatibility was attempted on non supported HW`."
    ),
    sources=(_PAGE, "torch 2.15.0, error text measured with a fake libcuda, 2026-11-21"),
)


def look(facts: Facts) -> Iterator[Result]:
    library = loaded_libcuda(facts)
    brands = ", ".join(sorted({gpu.brand for gpu in facts.gpus if gpu.brand})) or "unknown"
    if cuda_code(facts) == 804:
        found = next((one for one in [library, *libraries(facts)] if one is not None and one.compat), None)
        if found is None:
            remedy = Remedy("Take the folder of the CUDA compatibility package out of LD_LIBRARY_PATH and ld.so.conf")
        else:
            remedy = hide_library(facts, found, "the CUDA compatibility package", "cuda-compat-*")
        yield Result(
            breaks_torch(facts),
            "A CUDA compatibility package is loaded, but these GPUs are not allowed one (error 804)",
            evidence=(
                Evidence("cuInit", "804", needed="0", source="libcuda"),
                Evidence(
                    "libcuda", found.real_path if found else "unknown", needed="the driver's own", source="the loader"
                ),
                Evidence("brand of the GPUs", brands, needed="a data-centre GPU", source="NVML"),
            ),
            remedy=remedy,
            link=_PAGE,
        )
    elif library is not None and library.compat and facts.libcuda.outcome == "ok":
        version = facts.libcuda.version
        shown = f" and offers CUDA {cuda_text(version)}" if version else ""
        yield note(
            f"libcuda comes from a CUDA compatibility package{shown}",
            evidence=(Evidence("libcuda", library.real_path, source=f"found by {library.found_by}"),),
            link=_PAGE,
        )
    elif library is not None and facts.libcuda.outcome == "ok":
        yield ok("libcuda is the driver's own")
