"""CMake that asks for a C++ standard below the one that torch's headers require."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceText, Safety, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.cpp.standard import LATER_FLAG, needed_standard
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.rules.rule import Bad, Ok, Rule, TextContext, nothing
from torchlift.source import Span
from torchlift.versions import TorchVersion
from torchlift.view.text import SCRIPTS, TextKind, TextView, text_kind

_CMAKE: frozenset[TextKind] = frozenset({"cmake"})

RULE = Rule(
    code="TL605",
    name="cmake-standard",
    summary="CMake asks for a C++ standard below the one that torch's headers require",
    why=(
        "The headers of torch 2.1 to 2.13 stop below C++17, those of 2.14 and later below C++20: `#error C++20 or later "
        "compatible compiler is required to use ATen`. What `find_package(Torch)` brings raises no standard that a project sets "
        "for itself."
    ),
    fix=(
        "For review: the number is raised to the standard that the target needs. The compiler and the code have to know it. Files "
        "that name that standard too, because they choose, are not reported, nor is a project without `find_package(Torch)`."
    ),
    targets=(),
    check=nothing,
    text_kinds=SCRIPTS | _CMAKE,
    text_triggers=(
        "CMAKE_CXX_STANDARD",
        "CXX_STANDARD",
        "CMAKE_CUDA_STANDARD",
        "CUDA_STANDARD",
        *(f"cxx_std_{n}" for n in (11, 14, 17)),
        *("-std=", "/std:", "DCMAKE_CXX_STANDARD", "DCMAKE_CUDA_STANDARD"),
    ),
    severity=Severity.ERROR,
    sources=(
        "ATen/ATen.h and share/cmake/Torch/TorchConfig.cmake of torch 1.13.1 to 2.15.0, read 2026-11-26",
        "https://cmake.org/cmake/help/latest/prop_tgt/CXX_STANDARD.html",
    ),
)

_SETTING = lazy_pattern(
    r"\b(?:CMAKE_)?(?:CXX|CUDA)_STANDARD\s+\"?(?P<a>11|14|17)\b(?!\s*\})|\bc(?:xx|uda)_std_(?P<b>11|14|17)\b"
    r"|-std=(?:c|gnu)\+\+(?P<c>0x|11|1y|14|1z|17)\b"
)
_LATER = lazy_pattern(r"CXX_STANDARD\s+\"?2\d\b|\bcxx_std_2\d\b|" + LATER_FLAG.pattern)
_LATER_CUDA = lazy_pattern(r"CUDA_STANDARD\s+\"?2\d\b|\bcuda_std_2\d\b")
_COMPARES = lazy_pattern(
    r"(?:(?:if|elseif|check_\w+|string|message)\s*\(|list\s*\(\s*(?:FIND|REMOVE_ITEM)\b)", re.IGNORECASE
)
_GIVEN = lazy_pattern(
    r"-DCMAKE_(?:CXX|CUDA)_STANDARD(?::\w+)?=[\"']?(?P<defined>11|14|17)\b|(?<![\w-])-std=(?:c|gnu)\+\+(?P<flag>0x|11|1y|14|1z|17)\b"
)
# Libraries and headers of torch that a compiler is given; `Torch_DIR` and the like are CMake's.
_LINKS = lazy_pattern(r"-ltorch|-lc10\b|libtorch/include|torch/include|torch/csrc|cpp_extension", re.IGNORECASE)
_FINDS = lazy_pattern(r"\bfind_package\s*\(\s*Torch\b", re.IGNORECASE)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    if view.kind != "cmake":
        yield from _on_command_lines(view, context)
        return
    later = {"cxx": _LATER.search(view.code) is not None, "cuda": _LATER_CUDA.search(view.code) is not None}
    if all(later.values()) or not _builds_with_torch(view, context.project):
        return
    for line in view.lines:
        # What a library asks of those who link it is a lower bound, and no standard that anything is compiled with.
        if _COMPARES.match(line.text.strip()) or "INTERFACE_COMPILE_FEATURES" in line.text:
            continue
        for match in _SETTING.finditer(line.text):
            if later["cuda" if "cuda" in match[0].lower() else "cxx"]:
                continue
            group = match.lastgroup
            assert group is not None
            known = needed_standard(match[group], context.settings.target)
            if known is None:
                continue
            needed, since = known
            message, review = _said(match[group], needed, since)
            span = line.span(*match.span(group))
            fix = Fix(f"Ask for C++{needed}", Safety.UNSAFE, (ReplaceText(span, needed),), TorchVersion(2, 1))
            yield Finding(
                "TL605", view.path, _whole(line.start, match), message, Severity.ERROR, f"Needs review: {review}", fix
            )


def _on_command_lines(view: TextView, context: TextContext) -> Iterator[Finding]:
    """What scripts give to CMake, where the project looks for torch, and flags of a compiler beside torch's libraries."""
    links = _LINKS.search(view.code) is not None
    if LATER_FLAG.search(view.code) or not (links or context.project.once(_finders)):
        return
    for match in _GIVEN.finditer(view.code):
        standard = match["defined"] or match["flag"]
        known = needed_standard(standard, context.settings.target)
        if known is None or is_shown(view, match.start()) or (match["flag"] and not links):
            continue
        message, review = _said(standard, *known)
        advice = f"Ask for C++{known[0]} where this compiles with torch: {review}"
        yield Finding("TL605", view.path, Span(*match.span()), message, Severity.WARNING, advice)


def _said(standard: str, needed: str, since: TorchVersion) -> tuple[str, str]:
    message = (
        f"C++{standard} is below what the headers of torch {since} and later accept: `#error C++{needed} or later "
        "compatible compiler is required to use ATen`."
    )
    compilers = "GCC 11, Clang 14 or MSVC 2022, and nvcc of CUDA 12 for `.cu` files" if needed == "20" else "GCC 9"
    return message, f"the code has to compile as C++{needed} too, which takes {compilers}."


def _whole(start: int, match: re.Match[str]) -> Span:
    return Span(start + match.start(), start + match.end())


def _builds_with_torch(view: TextView, project: Project) -> bool:
    """Whether torch is looked for in this file, or in one that takes the setting over: CMake hands it down."""
    if _FINDS.search(view.code):
        return True
    if "CMAKE_C" not in view.code or posixpath.basename(view.path) != "CMakeLists.txt":
        return False
    folder = posixpath.dirname(view.path)
    return any(
        path.startswith(f"{folder}/" if folder else "") and text_kind(path) == "cmake"
        for path in project.once(_finders)
    )


def _finders(project: Project) -> tuple[str, ...]:
    """Files that look for torch."""
    places = project.places(
        ("find_package(Torch ", "find_package(Torch)", "find_package( Torch ", "find_package (Torch ")
    )
    return tuple(sorted({place.rpartition(":")[0] for found in places.values() for place in found}))


_HEAD = "cmake_minimum_required(VERSION 3.18)\nproject(fast LANGUAGES CXX)\n"
EXAMPLES = (
    Bad(
        "cmake -S cpp -B build -DCMAKE_CXX_STANDARD=17 && cmake --build build\n",
        why="a standard on the command line, where the project looks for torch",
        path="build.sh",
        files=(("cpp/CMakeLists.txt", "find_package(Torch REQUIRED)\n"),),
    ),
    Bad(
        "serve: serve.cpp\n\tg++ -std=c++14 serve.cpp -Ilibtorch/include -Llibtorch/lib -ltorch -lc10 -o serve\n",
        why="a flag beside torch's libraries",
        path="Makefile",
    ),
    Ok("cmake -S cpp -B build -DCMAKE_CXX_STANDARD=17\n", "a project that builds nothing with torch", "build.sh"),
    Ok("pip install torch\ng++ -std=c++14 tool.cpp -o tool\n", "a tool beside torch", "build.sh"),
    Bad(
        f"{_HEAD}set(CMAKE_CXX_STANDARD 17)\nfind_package(Torch REQUIRED)\n",
        f"{_HEAD}set(CMAKE_CXX_STANDARD 20)\nfind_package(Torch REQUIRED)\n",
        safety="unsafe",
        why="a variable",
        path="CMakeLists.txt",
    ),
    Bad(
        f"{_HEAD}find_package(Torch REQUIRED)\nset_property(TARGET fast PROPERTY CXX_STANDARD 14)\n",
        f"{_HEAD}find_package(Torch REQUIRED)\nset_property(TARGET fast PROPERTY CXX_STANDARD 20)\n",
        safety="unsafe",
        why="a property of a target",
        path="cpp/CMakeLists.txt",
    ),
    Bad(
        f'{_HEAD}find_package(Torch REQUIRED)\nset(CMAKE_CXX_FLAGS "${{CMAKE_CXX_FLAGS}} -std=c++14 -O3")\n',
        f'{_HEAD}find_package(Torch REQUIRED)\nset(CMAKE_CXX_FLAGS "${{CMAKE_CXX_FLAGS}} -std=c++20 -O3")\n',
        safety="unsafe",
        why="a flag",
        path="CMakeLists.txt",
    ),
    Bad(
        f"{_HEAD}set(CMAKE_CXX_STANDARD 14)\nadd_subdirectory(serve)\n",
        f"{_HEAD}set(CMAKE_CXX_STANDARD 20)\nadd_subdirectory(serve)\n",
        safety="unsafe",
        why="torch is looked for further down",
        path="CMakeLists.txt",
        files=(("serve/CMakeLists.txt", "find_package(Torch REQUIRED)\n"),),
    ),
    Bad(
        f"{_HEAD}set(CMAKE_CXX_STANDARD 20)\nset(CMAKE_CUDA_STANDARD 14)\nfind_package(Torch REQUIRED)\n",
        f"{_HEAD}set(CMAKE_CXX_STANDARD 20)\nset(CMAKE_CUDA_STANDARD 20)\nfind_package(Torch REQUIRED)\n",
        safety="unsafe",
        why="the standard of CUDA was left behind",
        path="CMakeLists.txt",
    ),
    Ok(f"{_HEAD}set(CMAKE_CXX_STANDARD 14)\n", "a project without torch", "CMakeLists.txt"),
    Ok(f"{_HEAD}set(CMAKE_CXX_STANDARD 20)\nfind_package(Torch REQUIRED)\n", "what the headers need", "CMakeLists.txt"),
    Ok(f"{_HEAD}find_package(Torch REQUIRED)\n# set(CMAKE_CXX_STANDARD 14)\n", "a comment", "CMakeLists.txt"),
    Ok(
        f"{_HEAD}find_package(Torch REQUIRED)\nif(Torch_VERSION VERSION_LESS 2.14)\n  set(CMAKE_CXX_STANDARD 17)\nelse()\n"
        "  set(CMAKE_CXX_STANDARD 20)\nendif()\n",
        "chosen by the release",
        "CMakeLists.txt",
    ),
    Ok(f"{_HEAD}find_package(Torchvision REQUIRED)\nset(CMAKE_CXX_STANDARD 14)\n", "another package", "CMakeLists.txt"),
)
