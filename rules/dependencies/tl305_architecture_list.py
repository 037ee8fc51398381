"""Lists of GPU architectures that the toolkit no longer compiles for, or that leave out the GPUs at hand."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchlift.dependencies.architecture_lists import ArchitectureList, ListedArchitecture, architecture_lists
from torchlift.dependencies.commands import is_code
from torchlift.dependencies.setup_file import string_place
from torchlift.finding import Finding, Fix, ReplaceText, Safety, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.rules.dependencies.installed.reading import severity_in
from torchlift.rules.dependencies.wheels.toolkit import (
    Cuda,
    lowest_capability,
    names_toolkit,
    toolkit_in,
    toolkit_of_target,
)
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings, TextContext
from torchlift.source import Span
from torchlift.view import Use
from torchlift.view.text import TextKind, TextView
from torchlift.view.walk import walk
from torchlift.wheels import drivers
from torchlift.wheels.compatibility import jit_runs_on, runs_on
from torchlift.wheels.machine import Device, Machine

_KINDS: frozenset[TextKind] = frozenset(
    {"shell", "dockerfile", "yaml", "makefile", "env", "toml", "ini", "cmake", "markdown"}
)
_BUILDERS = (
    "torch.utils.cpp_extension.CUDAExtension",
    "torch.utils.cpp_extension.load",
    "torch.utils.cpp_extension.load_inline",
)

RULE = Rule(
    code="TL305",
    name="architecture-list",
    summary="A list of GPU architectures names some that the toolkit no longer compiles for, or lacks the GPUs named",
    why=(
        "Extensions are compiled for the architectures in TORCH_CUDA_ARCH_LIST or behind -gencode, by the CUDA that torch "
        "was built with. CUDA 13 refuses everything below 7.5 (Maxwell, Pascal, Volta): `nvcc fatal: Unsupported gpu "
        "architecture 'compute_70'`. All wheels of torch 2.15 are for CUDA 13. A GPU that the list leaves out gets `no kernel "
        "image is available`."
    ),
    fix=(
        "With `--gpus` or `--facts`, TORCH_CUDA_ARCH_LIST loses what the toolkit of the wheel for these GPUs refuses. What "
        "they need besides is added after review: the code may not be made for them. `-gencode` flags and CMake's lists are only reported. Nothing is reported where the file asks for "
        "the version of the toolkit itself."
    ),
    targets=_BUILDERS,
    triggers=("cpp_extension & arch=compute_",),
    text_triggers=("TORCH_CUDA_ARCH_LIST", "gencode", "CMAKE_CUDA_ARCHITECTURES"),
    text_kinds=_KINDS,
    sources=(
        "https://developer.nvidia.com/blog/navigating-gpu-architecture-support-a-guide-for-nvidia-cuda-developers",
        "https://docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html",
        "torch/utils/cpp_extension.py of torch 2.15.0",
    ),
)

# A file that asks for the toolkit's version chooses the list by it.
_ASKS_FOR_TOOLKIT = lazy_pattern(
    r"(?:CUDA|cuda)[A-Za-z_]*_?(?:VERSION|version|MAJOR|major|MAJ)\b|\b(?i:cu(?:da)?_?ver(?:sion)?)\b|bare_metal|NVCC_VERSION|nvcc[\"', -]+V\b"
)
# What torch 2.14 for cu126 runs on and CUDA 13 does not compile for (wheels.json); the GPUs of boards have wheels of their own.
_OF_CU126 = frozenset({(5, 0), (5, 2), (6, 0), (6, 1), (7, 0)})
_WORDS = lazy_pattern(r"TORCH_CUDA_ARCH_LIST|CUDA_ARCHITECTURES|-gencode|generate-code")
_CUBIN = lazy_pattern(r"(\d+)\.(\d)([af]?)")


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    if not _WORDS.search(view.code):
        return
    own = toolkit_in(view)
    if view.kind in {"cmake", "shell", "makefile", "yaml"} and own is None and _ASKS_FOR_TOOLKIT.search(view.code):
        return
    if own is None and (names_toolkit(view) or "torch" not in view.code.lower()):
        return  # it is compiled by a toolkit that the wheel of torch says nothing about
    for line in view.lines:
        if not _WORDS.search(line.text) or (view.kind == "markdown" and not is_code(view, line)):
            continue
        for found in architecture_lists(line.text, line.start, cmake=view.kind == "cmake"):
            if is_shown(view, found.span.start):
                continue
            finding = _finding(view.path, found, own, context.settings)
            if finding is not None:
                fix = finding.fix if view.kind != "markdown" else None
                severity = severity_in(view, finding.severity)
                yield Finding("TL305", view.path, finding.span, finding.message, severity, finding.help, fix)


def check(use: Use, context: Context) -> Iterable[Finding]:
    return context.once(_in_file) if use.call is not None else ()


def _in_file(context: Context) -> tuple[Finding, ...]:
    view = context.view
    if _ASKS_FOR_TOOLKIT.search(view.source.text) or "get_device_capability" in view.source.text:
        return ()
    items: list[ListedArchitecture] = []
    for node in walk(view.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "arch=compute_" in node.value:
            place = string_place(view.source, node)
            if place is None:
                return ()
            for match in re.finditer(r"arch=compute_(\d{2,3})[af]?,code=\[?[\w,]+\]?", node.value):
                span = Span(place.start + match.start(), place.start + match.end())
                digits = match[1]
                items.append(
                    ListedArchitecture((int(digits[:-1]), int(digits[-1])), match[0], "code=compute" in match[0], span)
                )
    if not items:
        return ()
    found = ArchitectureList("gencode", "-gencode", items[0].span, tuple(items), " ", whole=False)
    finding = _finding(view.path, found, None, context.settings)
    return (finding,) if finding is not None else ()


def _finding(path: str, found: ArchitectureList, own: Cuda | None, settings: Settings) -> Finding | None:
    target = toolkit_of_target(settings)
    if own is None and target is None:
        return None
    if own is not None:
        cuda, whose = own, "this file's toolkit"
    else:
        assert target is not None
        cuda, whose = target
    lowest = lowest_capability(cuda)
    dropped = [item for item in found.items if item.capability < lowest]
    early = [
        item
        for item in found.items
        if own is not None and (first := drivers.first_cuda(item.capability)) is not None and first > cuda
    ]
    missing = _missing(found, settings, own or cuda)
    if not dropped and not early and not missing:
        return None
    kept = [item for item in found.items if item not in dropped and item not in early]
    sentences = []
    if dropped:
        sure = f"CUDA {_spelled(cuda)}" if own else f"CUDA {_spelled(cuda)}, which {whose} is built with,"
        sentences.append(f"{sure} no longer compiles for {_names(dropped)} (the lowest is {_spelled(lowest)}).")
    if early:
        sentences.append(f"CUDA {_spelled(cuda)} does not know {_names(early)} yet.")
    if missing:
        sentences.append(f"{found.name} has no code for the GPUs named ({', '.join(map(_spelled, missing))}).")
    severity = Severity.ERROR if own is not None and (dropped or early) else Severity.WARNING
    help = _help(found, kept, dropped, missing, settings)
    fix = None
    if settings.machine is not None and found.kind == "torch" and found.whole and not early and (kept or missing):
        text = _rewritten(found, kept, dropped, missing)
        safety = Safety.UNSAFE if missing else Safety.SAFE
        fix = Fix(f"Compile for {text}", safety, (ReplaceText(found.span, text),))
    return Finding("TL305", path, found.span, " ".join(sentences), severity, help, fix)


def _missing(found: ArchitectureList, settings: Settings, cuda: Cuda) -> list[tuple[int, int]]:
    """Compute capabilities of the user's GPUs that the list has no code for, where the toolkit can compile it."""
    if settings.machine is None or found.kind != "torch" or not found.whole:
        return []
    wanted = dict.fromkeys(device.capability for device in settings.machine.devices if device.capability)
    absent = []
    for capability in wanted:
        first = drivers.first_cuda(capability)
        if capability < lowest_capability(cuda) or (first is not None and first > cuda):
            continue
        images = [(_CUBIN.sub(r"\1\2\3", item.text.partition("+")[0]), item.ptx) for item in found.items]
        if not any(
            runs_on(image, capability, cuda) or (ptx and jit_runs_on(image, capability)) for image, ptx in images
        ):
            absent.append(capability)
    return absent


def _rewritten(
    found: ArchitectureList,
    kept: list[ListedArchitecture],
    dropped: list[ListedArchitecture],
    missing: list[tuple[int, int]],
) -> str:
    texts = [item.text for item in kept]
    if any(item.ptx for item in dropped) and not any(item.ptx for item in kept):
        missing_last = sorted(missing)[-1:]
        if not kept or (missing_last and missing_last[0] > kept[-1].capability):
            added = [_spelled(capability) for capability in sorted(missing)]
            added[-1] += "+PTX"
            return found.separator.join([*texts, *added])
        texts[-1] += "+PTX"
    for capability in sorted(missing):
        place = next((n for n, item in enumerate(kept) if item.capability > capability), len(texts))
        texts.insert(place, _spelled(capability))
        kept = [*kept[:place], ListedArchitecture(capability, _spelled(capability), False, found.span), *kept[place:]]
    return found.separator.join(texts)


def _help(
    found: ArchitectureList,
    kept: list[ListedArchitecture],
    dropped: list[ListedArchitecture],
    missing: list[tuple[int, int]],
    settings: Settings,
) -> str:
    if found.kind == "gencode":
        advice = f"Remove {', '.join(f'`{item.text}`' for item in dropped)}." if dropped else "Add a flag for them."
    elif kept:
        advice = f"What is left: `{_rewritten(found, kept, dropped, [])}`."
    else:
        advice = "Nothing would be left of the list: write the GPUs that the project is for."
    if missing:
        advice = (
            f"Needs review: what is compiled has to be made for {', '.join(map(_spelled, missing))} at all. {advice}"
        )
    if dropped and settings.machine is None:
        if all(item.capability in _OF_CU126 for item in dropped):
            advice += " Those GPUs stay with a torch for CUDA 12: torch 2.14 for cu126 is the last."
        advice += " `--gpus` or `--facts` says which GPUs are meant."
    return advice


def _names(items: list[ListedArchitecture]) -> str:
    names = list(dict.fromkeys(_spelled(item.capability) for item in items))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _spelled(pair: tuple[int, int]) -> str:
    return f"{pair[0]}.{pair[1]}"


_H100 = Machine((Device("H100", (9, 0)),), driver="595.58.03")
_V100 = Machine((Device("V100", (7, 0)),), driver="580.95.05")

EXAMPLES = (
    Bad(
        'export TORCH_CUDA_ARCH_LIST="6.0;7.0;7.5;8.0;9.0+PTX"\npip install .\n',
        'export TORCH_CUDA_ARCH_LIST="7.5;8.0;9.0+PTX"\npip install .\n',
        why="what CUDA 13 dropped, for GPUs that are known",
        path="build.sh",
        machine=_H100,
    ),
    Bad(
        'export TORCH_CUDA_ARCH_LIST="6.0;7.0+PTX;8.0;9.0"\npip install .\n',
        'export TORCH_CUDA_ARCH_LIST="8.0;9.0+PTX"\npip install .\n',
        why="the PTX of what is dropped moves to the newest that stays",
        path="build.sh",
        machine=_H100,
    ),
    Bad(
        'FROM ubuntu\nENV TORCH_CUDA_ARCH_LIST="7.0 7.5 8.0"\n',
        'FROM ubuntu\nENV TORCH_CUDA_ARCH_LIST="7.5 8.0 9.0"\n',
        "unsafe",
        why="a GPU that the list leaves out",
        path="Dockerfile",
        machine=_H100,
    ),
    Bad(
        "env:\n  TORCH_CUDA_ARCH_LIST: '6.0;7.0;8.0'\n",
        why="GPUs that nobody named",
        path=".github/workflows/build.yml",
    ),
    Bad(
        'FROM nvidia/cuda:13.0.1-devel-ubuntu24.04\nENV TORCH_CUDA_ARCH_LIST="7.0;8.0"\n',
        why="an image whose toolkit refuses it",
        path="Dockerfile",
    ),
    Bad(
        'FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV TORCH_CUDA_ARCH_LIST="8.0;10.0"\n',
        why="an image whose toolkit does not know it yet",
        path="Dockerfile",
    ),
    Bad(
        'TORCH = $(shell python -c "import torch; print(torch.__path__[0])")\n'
        "NVCCFLAGS = -I$(TORCH)/include -gencode=arch=compute_60,code=sm_60 -gencode=arch=compute_80,code=sm_80\n",
        why="flags of nvcc in a makefile",
        path="Makefile",
    ),
    Bad(
        "find_package(Torch REQUIRED)\nset(CMAKE_CUDA_ARCHITECTURES 60 70 80)\n",
        why="a list of CMake",
        path="CMakeLists.txt",
    ),
    Bad(
        "from setuptools import setup\nfrom torch.utils.cpp_extension import BuildExtension, CUDAExtension\n\n"
        'setup(ext_modules=[CUDAExtension("a", ["a.cu"], extra_compile_args={"nvcc": ["-O3",\n'
        '    "-gencode", "arch=compute_70,code=sm_70", "-gencode", "arch=compute_80,code=sm_80"]})])\n',
        why="literals of setup.py",
        path="setup.py",
    ),
    Ok('export TORCH_CUDA_ARCH_LIST="7.5;8.0;8.6;9.0;10.0;12.0+PTX"\n', "what CUDA 13 compiles for", "a.sh"),
    Ok('export TORCH_CUDA_ARCH_LIST="7.0;8.0"\n', "Volta GPUs, whose torch is for CUDA 12", "b.sh", machine=_V100),
    Ok(
        'FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV TORCH_CUDA_ARCH_LIST="6.0;7.0;8.0"\n',
        "an image whose toolkit compiles for it",
        "Dockerfile",
    ),
    Ok(
        'ARG CUDA="11.6"\nFROM pytorch/pytorch:1.13.1-cuda${CUDA}-cudnn8-devel\nENV TORCH_CUDA_ARCH_LIST="6.0 7.0"\n',
        "an image whose toolkit is filled in",
        "Dockerfile",
    ),
    Ok(
        'if [[ "$CUDA_VERSION" == 12* ]]; then\n  export TORCH_CUDA_ARCH_LIST="6.0;7.0"\nfi\n',
        "a list chosen by the toolkit",
        "c.sh",
    ),
    Ok('export TORCH_CUDA_ARCH_LIST="$ARCHS"\nunset TORCH_CUDA_ARCH_LIST\n', "a list from elsewhere", "d.sh"),
    Ok('echo "TORCH_CUDA_ARCH_LIST=6.0"\n# TORCH_CUDA_ARCH_LIST=6.0\n', "a message and a comment", "e.sh"),
    Ok(
        "NVCC = /usr/local/cuda/bin/nvcc\nFLAGS = -gencode=arch=compute_60,code=sm_60 -lnvinfer\n",
        "a plugin of another library, compiled by whatever toolkit is there",
        "Makefile",
    ),
    Ok("export MY_TORCH_CUDA_ARCH_LIST=6.0\n", "somebody else's variable", "f.sh"),
    Ok(
        'if(CUDAToolkit_VERSION VERSION_LESS "13.0")\n  set(CMAKE_CUDA_ARCHITECTURES 70 80)\nendif()\n',
        "CMake that asks for the toolkit",
        "CMakeLists.txt",
    ),
)
