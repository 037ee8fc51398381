"""C++ functions, types and macros that torch's headers call deprecated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.cpp.branches import Branches
from torchlift.rules.analysis.cpp.names import names_in
from torchlift.rules.cpp.facts.headers import USERS_OF_HEADERS, header_table
from torchlift.rules.cpp.facts.successors import DEPRECATED_MACROS
from torchlift.rules.cpp.facts.wording import places_said
from torchlift.rules.rule import Bad, Ok, Rule, TextContext, nothing
from torchlift.source import Span
from torchlift.view.text import TextView

RULE = Rule(
    code="TL603",
    name="cpp-deprecated-name",
    summary="C++ uses a function, type or macro that torch's headers call deprecated",
    why=(
        "The compiler warns, or the header says so in a comment, and a later release may not have it: the overload of "
        "`AT_DISPATCH_...` for `x.type()` was deprecated from 1.3 to 2.5 and is gone since."
    ),
    fix="None: C++ is not rewritten. The help is what the header says.",
    targets=(),
    check=nothing,
    text_kinds=frozenset({"cpp"}),
    text_triggers=(
        *USERS_OF_HEADERS,
        *DEPRECATED_MACROS,
    ),
    severity=Severity.INFO,
    sources=(
        "`[[deprecated]]`, `C10_DEPRECATED_MESSAGE` and the comments of c10/util/Exception.h in the wheels of torch 1.0.1 to 2.15.0 (rules/cpp/data/headers.json), read 2026-11-26",
    ),
)

# Members: the class of the value is not known, but no other class that is common in such files has a member spelled like that.
_MEMBERS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        lazy_pattern(r"(?:\.|->)\s*(data\s*<[\w:\s]+>\s*\(\s*\))"),
        "Tensor::data<T>()",
        "`data_ptr<T>()` does the same, in every release since 1.3.",
    ),
    (
        lazy_pattern(
            r"(?:\.|->)\s*(type\s*\(\s*\)\s*\.\s*(?:is_cuda|scalarType|is_sparse|backend|toScalarType|toBackend)\s*\()"
        ),
        "Tensor::type()",
        "The tensor says it itself: `x.is_cuda()`, `x.scalar_type()`, `x.is_sparse()`, `x.options()`.",
    ),
    (
        lazy_pattern(r"(?:\.|->)\s*(packed_accessor\s*<)"),
        "Tensor::packed_accessor",
        "`packed_accessor32` or `packed_accessor64`, by the size of the indices; `generic_packed_accessor` takes the same arguments.",
    ),
    (
        lazy_pattern(r"(?:\.|->)\s*(is_variable\s*\(\s*\))"),
        "Tensor::is_variable()",
        "Every tensor is a variable: leave the test out.",
    ),
)
# Where the header names no successor.
_ADVICE = {
    "at::PackedTensorAccessor": "`at::GenericPackedTensorAccessor` takes the same arguments; for one size of indices `at::PackedTensorAccessor32` or `...64`.",
}
_MACRO = lazy_pattern(rf"(?<![\w#])(?:{'|'.join(DEPRECATED_MACROS)})(?=\s*\()")
_TORCH = lazy_pattern(r"#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10)/|\b(?:torch|at)\s*::\s*Tensor\b")


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    """One finding for each name and file: old extensions use the same few names a hundred times."""
    branches = Branches(view.code, context.settings.target)
    places: dict[tuple[str, str | None], list[Span]] = {}
    for said, help, span in _uses(view, context):
        if branches.may_compile(span.start, view.source.slice(span)):
            places.setdefault((said, help), []).append(span)
    for (said, help), spans in places.items():
        lines = sorted({view.source.location(span.start)[0] for span in spans})
        further = f" {places_said(lines)}" if len(lines) > 1 else ""
        yield Finding("TL603", view.path, spans[0], f"{said}.{further}", Severity.INFO, help)


def _uses(view: TextView, context: TextContext) -> Iterator[tuple[str, str | None, Span]]:
    """What is said of each use, the advice, and where it is."""
    deprecated = header_table().deprecated
    for item in names_in(view.code):
        name = next((name for name in item.spellings if name in deprecated), None)
        if name is not None and (row := deprecated[name]).since <= context.settings.target:
            yield f"`{name}` is deprecated since torch {row.since}", row.said or _ADVICE.get(name), item.span
    if not _TORCH.search(view.code):
        return
    for pattern, member, advice in _MEMBERS:
        for match in pattern.finditer(view.code):
            yield f"`{member}` is deprecated, if this is a tensor", advice, Span(*match.span(1))
    for match in _MACRO.finditer(view.code):
        yield (
            f"`{match[0]}` is deprecated (c10/util/Exception.h)",
            f"{DEPRECATED_MACROS[match[0]]}.",
            Span(*match.span()),
        )


EXAMPLES = (
    Bad(
        "#include <torch/extension.h>\n\nfloat* raw(at::Tensor x) {\n  return x.data<float>();\n}\n",
        why="data<T>()",
        path="csrc/raw.cpp",
    ),
    Bad(
        '#include <torch/extension.h>\n#define CHECK_CUDA(x) AT_ASSERTM(x.type().is_cuda(), #x " must be on the GPU")\n',
        why="a macro that uses two of them",
        path="csrc/check.h",
    ),
    Bad(
        "#include <ATen/autocast_mode.h>\n\nauto dtype = at::autocast::get_autocast_gpu_dtype();\n",
        why="a function",
        path="csrc/cast.cpp",
    ),
    Ok("#include <torch/extension.h>\n\nauto p = x.data_ptr<float>();\n", "what takes its place", "a.cpp"),
    Ok(
        "#include <torch/extension.h>\n\nauto p = v.data();\n// x.data<float>()\n",
        "data() of a vector, and a comment",
        "b.cpp",
    ),
    Ok("auto p = span.data<float>();\n", "a file without torch", "c.cpp"),
    Ok("#include <torch/extension.h>\n\nauto k = node.type().kind();\n", "another type()", "d.cpp"),
)
