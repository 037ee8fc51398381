"""Programs in other languages, and servers, that read TorchScript files: none of them can read an exported program.

Sources, read 2026-11-21:
    C++ and mobile APIs: torch/csrc/jit/serialization/import.h and torch/csrc/jit/mobile/import.h of torch 2.13.0
    Android: the class names of org.pytorch (https://docs.pytorch.org/javadoc/)
    Triton: platform names in https://github.com/triton-inference-server/pytorch_backend
    TorchServe: https://github.com/pytorch/serve (archived 2025-08-07)
    AOTInductor: https://docs.pytorch.org/docs/stable/torch.compiler_aot_inductor.html
"""

from __future__ import annotations

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project

_AOTI = (
    "compile the program with `torch._inductor.aoti_compile_and_package(program, package_path=...)` and load it there with "
    "`AOTIModelPackageLoader` (it checks no input shapes unless AOTI_RUNTIME_CHECK_INPUTS=1)"
)
_EXECUTORCH = "lower the program with ExecuTorch and load the .pte file there"
_DOCUMENTS = (".md", ".rst", ".txt", ".html", ".ipynb")


@dataclass(frozen=True)
class ForeignReader:
    """One place that reads TorchScript files without Python.

    Attributes:
        place: `path:line`.
        title: who reads: `C++ (torch::jit::load)`.
        advice: what reads the successor there, a clause.
    """

    place: str
    title: str
    advice: str


_SIGNS = {
    "torch::jit::load": ("C++ (`torch::jit::load`)", _AOTI),
    "torch::jit::_load_for_mobile": ("the mobile interpreter (`_load_for_mobile`)", _EXECUTORCH),
    "LiteModuleLoader": ("Android code (`LiteModuleLoader`)", _EXECUTORCH),
    "org.pytorch.Module": ("Android code (`org.pytorch.Module`)", _EXECUTORCH),
    "LibTorch-Lite": ("iOS code (`LibTorch-Lite`)", _EXECUTORCH),
    "pytorch_libtorch": (
        "Triton (`platform: pytorch_libtorch`)",
        "serve the module from Triton's Python backend, or compile it with AOTInductor",
    ),
    "torch-model-archiver": (
        "TorchServe (`torch-model-archiver`)",
        "TorchServe is archived since 2025-08; serve an AOTInductor package or the module itself",
    ),
    "CModule::load": ("Rust (`CModule::load`)", _AOTI),
}


def foreign_readers(project: Project) -> tuple[ForeignReader, ...]:
    """Every place of the project that reads TorchScript files in another language, documents left out."""
    found: list[ForeignReader] = []
    for word, places in project.places(tuple(_SIGNS)).items():
        title, advice = _SIGNS[word]
        found += (
            ForeignReader(place, title, advice) for place in places if not place.rpartition(":")[0].endswith(_DOCUMENTS)
        )
    return tuple(found)


def foreign_reading(project: Project) -> tuple[ForeignReader, ...]:
    """The same by who reads: one for each kind of reader, with all its places as one text."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for reader in foreign_readers(project):
        kinds.setdefault((reader.title, reader.advice), []).append(reader.place)
    return tuple(ForeignReader(", ".join(places), title, advice) for (title, advice), places in kinds.items())
