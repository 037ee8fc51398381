"""`#include` of files that torch no longer has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.cpp.branches import Branches
from torchlift.rules.cpp.facts.headers import header_table
from torchlift.rules.cpp.facts.successors import header_advice
from torchlift.rules.rule import Bad, Ok, Rule, TextContext, nothing
from torchlift.source import Span
from torchlift.view.text import TextView

RULE = Rule(
    code="TL604",
    name="removed-header",
    summary="`#include` of a file that torch no longer has",
    why="The compiler stops at once: `fatal error: THC/THC.h: No such file or directory`.",
    fix="None: C++ is not rewritten. The help names the file that has the contents now, where there is one.",
    targets=(),
    check=nothing,
    text_kinds=frozenset({"cpp"}),
    text_triggers=(
        # With the slash: licences are in capitals, too.
        *(f"include & {folder}/" for folder in ("torch", "ATen", "c10", "TH", "THC", "THCUNN", "THNN", "caffe2")),
    ),
    severity=Severity.ERROR,
    sources=("torch/include of the wheels of torch 1.0.1 to 2.15.0 (rules/cpp/data/headers.json), read 2026-11-26",),
)

_INCLUDE = lazy_pattern(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([\w./+-]+)[>\"]", re.MULTILINE)


def _is_made_here(project: Project, file: str) -> bool:
    """Whether the build of the project makes a header itself: CMake names it, or what `protoc` makes it from."""
    name = file.rpartition("/")[2]
    source = name.replace(".pb.h", ".proto")
    places = project.places((name, source))
    paths = [place.rpartition(":")[0] for word in (name, source) for place in places[word]]
    return any(path.endswith((".cmake", "CMakeLists.txt")) for path in paths)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    gone = header_table().files
    branches = Branches(view.code, context.settings.target)
    folders = view.path.split("/")[:-1]
    for match in _INCLUDE.finditer(view.code):
        file = match[1]
        release = gone.get(file)
        if release is None or release > context.settings.target:
            continue
        # A copy of these sources has the file beside it.
        if file.partition("/")[0] in folders or not branches.may_compile(match.start(1), "__has_include"):
            continue
        if context.project.once(_is_made_here, file):
            continue
        message = f"`{file}` is gone since torch {release}."
        span = Span(match.start(1), match.end(1))
        yield Finding("TL604", view.path, span, message, Severity.ERROR, header_advice(file))


EXAMPLES = (
    Ok(
        '#include "caffe2/proto/caffe2.pb.h"\n',
        "a header that the build makes",
        "lib/loader.cpp",
        files=(("lib/CMakeLists.txt", "protobuf_generate_cpp(SRCS HDRS caffe2.proto)\n"),),
    ),
    Bad("#include <torch/extension.h>\n#include <THC/THC.h>\n", why="THC", path="csrc/nms.cu"),
    Bad('#include <ATen/ATen.h>\n#include "THC/THCNumerics.cuh"\n', why="in quotes", path="csrc/roi.cuh"),
    Ok("#include <torch/extension.h>\n// #include <THC/THC.h>\n", "a comment", "a.cpp"),
    Ok("#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n", "a file that is still there", "b.cpp"),
    Ok(
        "#include <torch/extension.h>\n#include <THC/THCAtomics.cuh>\n",
        "one of two files of THC that are still there",
        "f.cu",
    ),
    Ok(
        "#include <torch/version.h>\n#if TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR < 11\n#include <THC/THC.h>\n#endif\n",
        "a branch for older releases",
        "c.cu",
    ),
    Ok("#include <torch/version.h>\n#ifdef OLD_TORCH\n#include <THC/THC.h>\n#endif\n", "a macro of the build", "d.cu"),
    Ok("#if __has_include(<THC/THC.h>)\n#include <THC/THC.h>\n#endif\n", "where it is there", "e.cu"),
    Ok('#include "TH/TH.h"\n', "a copy of these sources", "lib/TH/THTensor.c"),
)
