"""Every library finds the libraries that it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, problem, warning
from torchlift.doctor.derived.device_code import file_name
from torchlift.doctor.facts import Facts, Library
from torchlift.doctor.remedies.package_commands import install, pinned
from torchlift.doctor.remedies.wheel_remedy import is_companion, wheel_remedy

CHECK = Check(
    id="missing-libraries",
    group="packages",
    title="Every library finds the libraries it needs",
    why=(
        "A package installed with --no-deps, or for another CUDA, stops with `ImportError: libcudnn.so.9: cannot open shared "
        "object file: No such file or directory`; some fall back to the CPU without a word."
    ),
    sources=(
        "import torch 2.15.0 installed with --no-deps, tried 2026-11-21",
        "https://man7.org/linux/man-pages/man8/ld.so.8.html",
    ),
)

_DRIVER = re.compile(r"lib(cuda|nvidia-ml|nvcuvid|nvidia-encode)\.so|nvcuda\.dll|nvml\.dll")
_TORCH = re.compile(r"(lib)?(torch|c10)[a-z_]*\.(so|dll|dylib)")
_CUDA = re.compile(
    r"lib(cudart|cublas|cublasLt|cudnn\w*|cufft|cufftw|curand|cusolver|cusolverMg|cusparse|cusparseLt|nccl|nvrtc|"
    r"nvJitLink|cupti|cufile|nvshmem_host|nvToolsExt|nppi\w*|nvjpeg)\.so"
)
_LOADED_AT_IMPORT = re.compile(
    r"(lib)?(torch|torch_cuda|torch_cpu|torch_python|torch_cuda_linalg|c10|c10_cuda|shm|_C)[.-]"
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None:
        return
    complained = False
    for package in sorted({library.package or "" for library in facts.libraries}):
        libraries = [library for library in facts.libraries if (library.package or "") == package]
        lost = [(library, _lost(library, package)) for library in libraries]
        # One library for each CUDA, of which one is loaded (bitsandbytes): one that is complete is enough.
        whole = any(library.needed and not names and _links_cuda(library) for library, names in lost)
        lost = [(library, names) for library, names in lost if names]
        if package != "torch" and whole:
            lost = [(library, names) for library, names in lost if any(_TORCH.match(name) for name in names)]
        if not lost:
            continue
        complained = True
        names = sorted({name for _, found in lost for name in found})
        evidence = tuple(
            Evidence(library.path, f"needs {', '.join(found)}", needed="found", source="DT_NEEDED")
            for library, found in lost[:4]
        )
        fix = _remedy(facts, package)
        if package == "torch":
            fatal = any(_LOADED_AT_IMPORT.match(file_name(library.path)) for library, _ in lost)
            yield Result(
                "problem" if fatal else "warning",
                f"torch needs {', '.join(names)}, which nothing holds" + (": import torch fails" if fatal else ""),
                evidence=evidence,
                remedy=fix,
                cause="nvidia-pins",
            )
        elif any(_TORCH.match(name) for name in names):
            yield problem(
                f"{package or 'A library'} needs {', '.join(names)}, which torch {facts.torch.version} does not have",
                evidence=evidence,
                remedy=fix,
                cause="companion-mismatch",
            )
        else:
            yield warning(
                f"{package or 'A library'} needs {', '.join(names)}, which nothing holds: what uses it fails or falls back "
                "to the CPU",
                evidence=evidence,
                remedy=fix,
            )
    if not complained and facts.libraries:
        yield ok("Every library finds the CUDA and torch libraries that it needs")


def _links_cuda(library: Library) -> bool:
    return any(_CUDA.match(name) for name in library.needed)


def _lost(library: Library, package: str) -> list[str]:
    # Without a driver there is none to find, and optional plug-ins need what few machines have.
    names = [name for name in library.missing_needed if not _DRIVER.match(name)]
    if package == "torch":
        return names
    if package.startswith("nvidia-"):
        return []
    return [name for name in names if _TORCH.match(name) or _CUDA.match(name)]


def _remedy(facts: Facts, name: str) -> Remedy | None:
    package = facts.package(name)
    if package is None:
        return None
    if name == "torch":
        return Remedy(
            "Install torch with its requirements", install(facts, pinned(name, package.version), reinstall=True)
        )
    if is_companion(name):
        return wheel_remedy(facts)
    # Which build of somebody else's package is for which CUDA, and whether there is one, is not known here.
    return Remedy(f"Install a build of {name} for this torch and its CUDA, or give it an environment of its own")
