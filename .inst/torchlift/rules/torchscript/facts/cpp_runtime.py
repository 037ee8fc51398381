"""C++ of the project that runs TorchScript modules: it loads them from files, or takes them from Python in the same process.

Sources: torch/csrc/jit/api/module.h and serialization/import.h of torch 2.13.0; `object.attr("_c")` cast to
`torch::jit::script::Module*` in facebookresearch/hanabi_SAD, read 2026-11-22.
"""

from __future__ import annotations

from torchlift.project import Project

_SIGNS = ("jit::script::Module", "torch::jit::Module", "torch::jit::load", "torch::jit::_load_for_mobile")
_SOURCES = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".cu", ".mm")


def cpp_runtime(project: Project) -> str | None:
    """`path:line` of the first C++ in the project that runs TorchScript modules; None if there is none."""
    return project.once(_cpp_runtime)


def _cpp_runtime(project: Project) -> str | None:
    places = sorted(place for found in project.places(_SIGNS).values() for place in found)
    return next((place for place in places if place.rpartition(":")[0].endswith(_SOURCES)), None)
