"""The CUDA toolkit fits torch, for those who build extensions."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.derived.naming import spelled
from torchlift.doctor.derived.paths import within
from torchlift.doctor.derived.torch_build import toolkit, torch_build
from torchlift.doctor.facts import Facts, Toolkit

CHECK = Check(
    id="toolkit-mismatch",
    group="environment",
    title="The CUDA toolkit can build extensions for torch",
    why=(
        "torch's wheels bring all of CUDA that they need. Building an extension uses the machine's nvcc, and another major "
        "version is refused: `The detected CUDA version (12.4) mismatches the version that was used to compile PyTorch "
        "(13.2)`. Another minor version only warns."
    ),
    sources=("CUDA_MISMATCH_MESSAGE in torch/utils/cpp_extension.py of torch 2.13.0",),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None:
        return
    used = _used(facts)
    wanted = torch_build(facts.torch).cuda
    version = toolkit(used.version) if used else None
    if used is None or version is None or wanted is None:
        return
    evidence = Evidence("CUDA toolkit", spelled(version), needed=f"{wanted[0]}.x", source=used.path)
    if version[0] != wanted[0]:
        yield note(
            f"The CUDA toolkit {spelled(version)} cannot build extensions for this torch, which is built with "
            f"{spelled(wanted)}; running torch needs no toolkit",
            evidence=(evidence,),
            remedy=Remedy(
                f"Name a toolkit {wanted[0]}.x before building", f"export CUDA_HOME=/usr/local/cuda-{spelled(wanted)}"
            ),
        )
    else:
        yield ok(f"The CUDA toolkit {spelled(version)} can build extensions for this torch", evidence=(evidence,))


def _used(facts: Facts) -> Toolkit | None:
    """The one that torch.utils.cpp_extension would take: CUDA_HOME, CUDA_PATH, then the nvcc on PATH."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        folder = facts.environment.get(variable)
        if folder:
            return next(
                (item for item in facts.toolkits if within(item.path, folder) or within(folder, item.path)), None
            )
    return next((item for item in facts.toolkits if item.on_path), None)
