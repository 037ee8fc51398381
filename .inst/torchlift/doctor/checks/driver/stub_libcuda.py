"""The toolkit's stub in place of the driver's libcuda."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.driver_libraries import libraries, loaded_libcuda
from torchlift.doctor.derived.nvidia_driver import cuda_code
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.loader_path import hide_library

CHECK = Check(
    id="stub-libcuda",
    group="driver",
    title="libcuda is the driver's, not the toolkit's stub",
    why=(
        "`/usr/local/cuda/lib64/stubs/libcuda.so` exists to link programs on machines without a driver. When its folder "
        "is on LD_LIBRARY_PATH at run time it hides the real library, and torch says `Error 34: CUDA driver is a stub "
        "library`."
    ),
    sources=("torch 2.15.0, error text measured with a fake libcuda, 2026-11-21",),
)


def look(facts: Facts) -> Iterator[Result]:
    library = loaded_libcuda(facts)
    loaded_stub = library is not None and library.stub and facts.libcuda.outcome != "ok"
    if cuda_code(facts) == 34 or loaded_stub:
        stub = next((one for one in [library, *libraries(facts)] if one is not None and one.stub), None)
        if stub is None:
            remedy = Remedy("Take the toolkit's `stubs` folder out of LD_LIBRARY_PATH and ld.so.conf")
        else:
            remedy = hide_library(facts, stub, "the toolkit's stub folder")
        yield Result(
            breaks_torch(facts),
            "The CUDA toolkit's stub is loaded in place of the driver's libcuda (error 34)",
            evidence=(
                Evidence("cuInit", str(facts.libcuda.code or facts.libcuda.outcome), needed="0", source="libcuda"),
                Evidence("libcuda", stub.path if stub else "unknown", needed="the driver's own", source="the loader"),
            ),
            remedy=remedy,
        )
    elif library is not None and facts.libcuda.outcome == "ok":
        yield ok("libcuda is no stub")
