"""Programs in other languages, and servers, that read or run TorchScript: none of them can read an exported program.

C++ is read as C++: what stands in comments and strings does not count.

Sources, read 2026-11-21 and 2026-11-26:
    C++ and mobile APIs: torch/csrc/jit/serialization/import.h, torch/csrc/jit/api/module.h and torch/csrc/jit/mobile/import.h of
        torch 2.13.0 and 2.15.0; `object.attr("_c")` cast to `torch::jit::script::Module*` in facebookresearch/hanabi_SAD
    Android: the class names of org.pytorch (https://docs.pytorch.org/javadoc/)
    Triton: platform names in https://github.com/triton-inference-server/pytorch_backend
    TorchServe: https://github.com/pytorch/serve (archived 2025-08-07)
    AOTInductor: https://docs.pytorch.org/docs/stable/torch.compiler_aot_inductor.html
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.cpp.names import CppName, names_in
from torchlift.source import Span, UnreadableSource
from torchlift.view.text import TextView, is_document, text_kind

AOTI = (
    "compile the program with `torch._inductor.aoti_compile_and_package(program, package_path=...)` and load it there with "
    "`AOTIModelPackageLoader` (it checks no input shapes unless AOTI_RUNTIME_CHECK_INPUTS=1)"
)
EXECUTORCH = "lower the program with ExecuTorch and load the .pte file there"
_LOADS = frozenset({"load", "import_ir_module", "import_ir_module_from_buffer"})
_MOBILE_LOADS = frozenset({"_load_for_mobile", "mobile::_load_data"})
_MODULES = frozenset({"Module", "script::Module", "ScriptModule", "mobile::Module"})
_SPACE = "torch::jit::"
# `load(...)` alone, where `using namespace torch::jit` stands in the file.
_BARE = lazy_pattern(r"(?<![\w.>:])(load|import_ir_module|_load_for_mobile)\s*\(")
_USING = lazy_pattern(r"\busing\s+namespace\s+(?:::\s*)?torch::jit\s*;")
_FILE = lazy_pattern(r'\s*\(\s*"([^"\\\n]+)"')


@dataclass(frozen=True)
class ForeignReader:
    """One place that reads TorchScript files without Python.

    Attributes:
        place: `path:line`.
        title: who reads: `C++ (torch::jit::load)`.
        advice: what reads the successor there, a clause.
        file: the file that is read, where it is written out there; else empty.
    """

    place: str
    title: str
    advice: str
    file: str = ""


@dataclass(frozen=True)
class CppTorchScript:
    """One name of TorchScript's C++ interface.

    Attributes:
        name: what stands behind `torch::jit::`.
        span: where.
        file: the file that is read, where the name is a function that reads one and it is written out.
    """

    name: str
    span: Span
    file: str = ""

    @property
    def is_load(self) -> bool:
        """Whether it reads a file."""
        return self.name in _LOADS or self.is_mobile

    @property
    def is_mobile(self) -> bool:
        """Whether it reads a file for the mobile interpreter."""
        return self.name in _MOBILE_LOADS


_SIGNS = {
    "LiteModuleLoader": ("Android code (`LiteModuleLoader`)", EXECUTORCH),
    "org.pytorch.Module": ("Android code (`org.pytorch.Module`)", EXECUTORCH),
    "LibTorch-Lite": ("iOS code (`LibTorch-Lite`)", EXECUTORCH),
    "pytorch_libtorch": (
        "Triton (`platform: pytorch_libtorch`)",
        "serve the module from Triton's Python backend, or compile it with AOTInductor",
    ),
    "torch-model-archiver": (
        "TorchServe (`torch-model-archiver`)",
        "TorchServe is archived since 2025-08; serve an AOTInductor package or the module itself",
    ),
    "CModule::load": (
        "Rust (`CModule::load`)",
        "a program compiled with AOTInductor is loaded by C++ (`AOTIModelPackageLoader`), which Rust would have to call",
    ),
}
_CPP = ("jit::", "torch::jit")


def torchscript_in(view: TextView) -> Iterator[CppTorchScript]:
    """Every name of TorchScript's interface in a C++ file, in order."""
    code = view.code
    if "jit" not in code:
        return
    found = [_named(view, item) for item in names_in(code)]
    if _USING.search(code):
        found += [_called(view, match[1], Span(*match.span(1))) for match in _BARE.finditer(code)]
    yield from sorted((item for item in found if item is not None), key=lambda item: item.span)


def _named(view: TextView, item: CppName) -> CppTorchScript | None:
    name = next((full for full in item.spellings if full.startswith(_SPACE)), None)
    return _called(view, name.removeprefix(_SPACE), item.span) if name is not None else None


def _called(view: TextView, name: str, span: Span) -> CppTorchScript:
    file = _FILE.match(view.source.text, span.end) if name in _LOADS | _MOBILE_LOADS else None
    return CppTorchScript(name, span, file[1] if file is not None else "")


def foreign_readers(project: Project) -> tuple[ForeignReader, ...]:
    """Every place of the project that reads TorchScript files in another language, documents left out."""
    found = list(project.once(_cpp_readers))
    for word, places in project.places(tuple(_SIGNS)).items():
        title, advice = _SIGNS[word]
        found += (ForeignReader(place, title, advice) for place in places if not is_document(place.rpartition(":")[0]))
    return tuple(found)


def foreign_reading(project: Project) -> tuple[ForeignReader, ...]:
    """The same by who reads: one for each kind of reader, with all its places as one text."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for reader in foreign_readers(project):
        kinds.setdefault((reader.title, reader.advice), []).append(reader.place)
    return tuple(ForeignReader(", ".join(places), title, advice) for (title, advice), places in kinds.items())


def foreign_doubt(project: Project) -> str | None:
    """A clause about a file of TorchScript that such a reader may open; None where the project has none."""
    readers = foreign_readers(project)
    if not readers:
        return None
    others = f" (and at {', '.join(reader.place for reader in readers[1:])})" if readers[1:] else ""
    return (
        f"the file must be none that {readers[0].title} at {readers[0].place}{others} reads, which cannot read an exported program: "
        f"for one that it does, {readers[0].advice}"
    )


def cpp_runtime(project: Project) -> str | None:
    """`path:line` of the first C++ in the project that runs TorchScript modules, read from files or taken from Python in the same
    process; None if there is none.
    """
    return next((place for place, item in project.once(_cpp) if item.is_load or item.name in _MODULES), None)


def python_naming(project: Project, file: str) -> tuple[str, ...]:
    """`path:line` of every place in Python that names a file by the last part of its path."""
    name = posixpath.basename(file)
    places = project.mentions(name) if "." in name[1:-1] else []
    return tuple(place for place in places if place.rpartition(":")[0].endswith(".py"))


def cpp_naming(project: Project, file: str) -> tuple[str, ...]:
    """`path:line` of every place in C++, outside of comments, that names a file by the last part of its path."""
    name = posixpath.basename(file)
    found = []
    for place in project.mentions(name) if "." in name[1:-1] else []:
        path, _, line = place.rpartition(":")
        if text_kind(path) == "cpp":
            source = project.source(path)
            start = source.line_starts[int(line) - 1]
            at = source.text.find(name, start)
            if not any(comment.start <= at < comment.end for comment in TextView(path, "cpp", source).comments):
                found.append(place)
    return tuple(found)


def _cpp_readers(project: Project) -> tuple[ForeignReader, ...]:
    return tuple(
        ForeignReader(place, "the mobile interpreter (`_load_for_mobile`)", EXECUTORCH, item.file)
        if item.is_mobile
        else ForeignReader(place, f"C++ (`torch::jit::{item.name}`)", AOTI, item.file)
        for place, item in project.once(_cpp)
        if item.is_load
    )


def _cpp(project: Project) -> tuple[tuple[str, CppTorchScript], ...]:
    """Every name of TorchScript's interface in the C++ of the project, with its `path:line`."""
    paths = {place.rpartition(":")[0] for found in project.places(_CPP).values() for place in found}
    found = []
    for path in sorted(path for path in paths if text_kind(path) == "cpp"):
        try:
            source = project.source(path)
        except (OSError, UnreadableSource):
            continue  # it is reported where it is analysed
        found += [
            (f"{path}:{source.location(item.span.start)[0]}", item)
            for item in torchscript_in(TextView(path, "cpp", source))
        ]
    return tuple(found)
