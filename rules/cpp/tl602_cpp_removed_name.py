"""C++ functions, types and macros that torch's headers no longer have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.cpp.branches import Branches
from torchlift.rules.analysis.cpp.names import names_in
from torchlift.rules.cpp.facts.headers import USERS_OF_HEADERS, header_table
from torchlift.rules.cpp.facts.successors import name_advice
from torchlift.rules.cpp.facts.wording import places_said
from torchlift.rules.rule import Bad, Ok, Rule, TextContext, nothing
from torchlift.source import Span
from torchlift.versions import TorchVersion
from torchlift.view.text import TextView

RULE = Rule(
    code="TL602",
    name="cpp-removed-name",
    summary="C++ uses a function, type or macro that torch's headers no longer have",
    why=(
        "The compiler stops: `error: 'AT_CHECK' was not declared in this scope`, `no suitable conversion function from "
        '"const at::DeprecatedTypeProperties" to "c10::ScalarType" exists`.'
    ),
    fix="None: C++ is not rewritten. The help says what takes the place, where that is known.",
    targets=(),
    check=nothing,
    text_kinds=frozenset({"cpp"}),
    text_triggers=(
        *USERS_OF_HEADERS,
        "AT_CHECK",
        "THCState",
        "THCudaCheck",
        "THCCeilDiv",
    ),
    severity=Severity.ERROR,
    sources=(
        "torch/include of the wheels of torch 1.0.1 to 2.15.0 (rules/cpp/data/headers.json: a name counts as gone where its last part is no word of any header), read 2026-11-26",
        "ATen/Dispatch.h of torch 2.5.1 (`scalar_type(const at::DeprecatedTypeProperties&)`, deprecated) and 2.6.0 (gone)",
    ),
)

_DISPATCH = lazy_pattern(r"\bAT_DISPATCH_\w+\s*\(")
_TYPE = lazy_pattern(r"(?:\.|->)\s*type\s*\(\s*\)\s*\Z")
_DISPATCH_SINCE = TorchVersion(2, 6)
_MACRO = lazy_pattern(r"[ \t]*#[ \t]*define[ \t]+\w+\(([^()]*)\)")
_PLAIN = lazy_pattern(r"(?<![\w.:>#])[A-Z_]\w{3,}")


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    """One finding for each name and file, and one for all names of TH: old extensions use a few hundreds of times."""
    branches = Branches(view.code, context.settings.target)
    uses: dict[str, list[tuple[str, TorchVersion, Span]]] = {}
    for name, release, span in _uses(view, context.project, branches):
        if release <= context.settings.target:
            uses.setdefault("TH" if name.startswith("TH") else name, []).append((name, release, span))
    for found in uses.values():
        yield _finding(view, found)
    if context.settings.target >= _DISPATCH_SINCE:
        yield from _dispatched(view, branches)


def _uses(view: TextView, project: Project, branches: Branches) -> Iterator[tuple[str, TorchVersion, Span]]:
    table = header_table()
    for item in names_in(view.code):
        known = table.gone(item.spellings)
        if known is None or not branches.may_compile(item.span.start):
            continue
        if not project.once(_defines_in, known[0]):
            yield (*known, item.span)
    for match in _PLAIN.finditer(view.code):
        name = match[0]
        release = table.macros.get(name) or table.names.get(name) or table.gone_with_its_macro(name)
        if release is None or not branches.may_compile(match.start(), name) or project.once(_defines, name):
            continue
        if not _is_macro_parameter(view.code, match):
            yield name, release, Span(*match.span())


def _is_macro_parameter(code: str, name: re.Match[str]) -> bool:
    """Whether a name is a parameter of the `#define` that it stands in, whose lines are one in `code`."""
    line = code.rfind("\n", 0, name.start()) + 1
    macro = _MACRO.match(code, line)
    return macro is not None and name[0] in re.findall(r"\w+", macro[1])


def _finding(view: TextView, found: list[tuple[str, TorchVersion, Span]]) -> Finding:
    names = [*dict.fromkeys(name for name, _, _ in found)]
    lines = sorted({view.source.location(span.start)[0] for _, _, span in found})
    more = f" and {len(names) - 3} more names of TH and THC" if len(names) > 3 else ""
    shown = ", ".join(f"`{name}`" for name in names[:3])
    since = max(release for _, release, _ in found)
    message = f"{shown}{more} {'is' if len(names) == 1 else 'are'} gone since torch {since}."
    if len(lines) > 1:
        message += f" {places_said(lines)}"
    help = _advice_of(names) if len(names) <= 3 else _general(names)
    return Finding("TL602", view.path, found[0][2], message, Severity.ERROR, help)


def _advice_of(names: list[str]) -> str | None:
    """What takes the place of each of a few names, each with its name in front of it where they differ."""
    told = {name: name_advice(name) for name in names}
    if len(set(told.values())) == 1:
        return told[names[0]]
    if any(advice is None or advice.startswith("TH") for advice in told.values()):
        return _general(names)
    return " ".join(f"`{name}`: {advice}" for name, advice in told.items())


def _general(names: list[str]) -> str:
    """What took the place of the library, and of those names that have a successor of their own."""
    library = name_advice("THC" if any("THC" in name for name in names) else "TH") or ""
    own = {name: advice for name in names if (advice := name_advice(name)) is not None and not advice.startswith("TH")}
    return " ".join((library, *(f"`{name}`: {advice}" for name, advice in own.items())))


@cache
def _definition(name: str) -> re.Pattern[str]:
    """A line that defines a macro, a function or a type of that name."""
    return re.compile(
        rf"#\s*define\s+{name}\b|\b(?:using|struct|class|enum)\s+{name}\b|^\s*(?!return\b)(?:[\w:*&<>]+\s+)+[*&]*{name}\s*\("
    )


def _defines_in(project: Project, qualified: str) -> bool:
    """Whether a file of the project that opens the outermost namespace of a qualified name defines such a name."""
    outermost, name = qualified.partition("::")[0], qualified.rpartition("::")[2]
    return _defines(project, name, rf"\bnamespace\s+{outermost}\b" if outermost != name else "")


def _defines(project: Project, name: str, beside: str = "") -> bool:
    """Whether the project has a name of its own that is spelled like that, in a file that holds the pattern `beside`."""
    for path in dict.fromkeys(place.rpartition(":")[0] for place in project.mentions(name)):
        text = project.data(path).decode("utf-8", "replace")
        if re.search(beside, text) and any(map(_definition(name).search, text.splitlines())):
            return True
    return False


def _dispatched(view: TextView, branches: Branches) -> Iterator[Finding]:
    """`AT_DISPATCH_...(x.type(), ...)`: what `type()` gives is no scalar type."""
    code = view.code
    for match in _DISPATCH.finditer(code):
        for start, end in _arguments(code, match.end()):
            typed = _TYPE.search(code, start, end)
            if typed is not None and branches.may_compile(match.start()):
                value = re.sub(r"\s+", " ", code[start : typed.start()].strip())
                message = f"`AT_DISPATCH_...` takes no `{value}.type()` since torch 2.6: the overload for `DeprecatedTypeProperties` is gone."
                help = f"Write `{value}.scalar_type()`, which every release since 1.0 has."
                yield Finding(
                    "TL602",
                    view.path,
                    Span(start + len(code[start:end]) - len(code[start:end].lstrip()), end),
                    message,
                    Severity.ERROR,
                    help,
                )


def _arguments(code: str, start: int) -> Iterator[tuple[int, int]]:
    """The arguments of a macro up to the one that is a lambda."""
    depth, begin = 0, start
    for at in range(start, min(len(code), start + 2000)):
        character = code[at]
        if character in "([{":
            depth += 1
            if character == "[" and depth == 1:
                return
        elif character in ")]}":
            depth -= 1
            if depth < 0:
                yield begin, at
                return
        elif character == "," and not depth:
            yield begin, at
            begin = at + 1


EXAMPLES = (
    Bad(
        '#include <torch/extension.h>\n\nvoid check(at::Tensor x) {\n  AT_CHECK(x.is_cuda(), "x must be on the GPU");\n}\n',
        why="a macro",
        path="csrc/check.cpp",
    ),
    Bad(
        '#include <torch/extension.h>\n\nvoid run(at::Tensor x) {\n  AT_DISPATCH_FLOATING_TYPES(x.type(), "run", ([&] { f<scalar_t>(x); }));\n}\n',
        why="a dispatch by type()",
        path="csrc/run.cu",
    ),
    Bad(
        "#include <TH/TH.h>\n#include <torch/extension.h>\n\nvoid f() { THFloatBlas_gemm('t', 'n', 1, 1, 1, 1.0f, a, 1, b, 1, 0.0f, c, 1); }\n",
        why="a name that macros of TH put together",
        path="csrc/gemm.cpp",
    ),
    Bad(
        "#include <ATen/ATen.h>\n\nauto [values, vectors] = at::symeig(matrix, true);\n",
        why="a function",
        path="csrc/eig.cpp",
    ),
    Ok(
        "#include <torch/extension.h>\n#define SUM_OF(name, THTensor) \\\n  int sum_##name(THTensor* x, THTensor* y);\nSUM_OF(half, Own)\n",
        "a parameter of a macro",
        "sum.h",
    ),
    Ok(
        '#include <torch/extension.h>\n#ifndef AT_CHECK\n#define AT_CHECK TORCH_CHECK\n#endif\n\nvoid f() { AT_CHECK(true, ""); }\n',
        "a macro that the project defines",
        "a.cpp",
    ),
    Ok(
        "#include <torch/extension.h>\n#ifndef TORCH_CHECK\n#define TORCH_CHECK AT_CHECK\n#endif\n",
        "the successor defined where it is missing",
        "f.h",
    ),
    Ok('#include <torch/extension.h>\n// AT_CHECK(x)\nauto s = "AT_CHECK";\n', "a comment and a string", "b.cpp"),
    Ok(
        '#include <torch/extension.h>\n\nvoid f(at::Tensor x) {\n  AT_DISPATCH_ALL_TYPES(x.scalar_type(), "f", [&] { g(x.type()); });\n}\n',
        "a dispatch by the scalar type",
        "c.cpp",
    ),
    Ok(
        "#include <torch/extension.h>\n#if TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR < 5\nvoid f() { AT_CHECK(true); }\n#endif\n",
        "a branch for older releases",
        "d.cpp",
    ),
    Ok(
        "#include <torch/extension.h>\n\nvoid f() { my::symeig(x); boost::at::symeig(x); }\n",
        "functions of others",
        "e.cpp",
    ),
)
