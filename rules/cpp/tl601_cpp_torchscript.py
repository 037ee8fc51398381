"""C++ that reads or runs TorchScript."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.cpp.branches import Branches
from torchlift.rules.analysis.project.torchscript_elsewhere import (
    AOTI,
    EXECUTORCH,
    CppTorchScript,
    python_naming,
    torchscript_in,
)
from torchlift.rules.rule import Bad, Ok, Rule, TextContext, nothing
from torchlift.versions import TorchVersion
from torchlift.view.text import TextView

RULE = Rule(
    code="TL601",
    name="cpp-torchscript",
    summary="C++ reads or runs TorchScript",
    why=(
        "TorchScript is deprecated since torch 2.10. `torch::jit::load` reads what `torch.jit.save` wrote and nothing else: once "
        "the Python that writes the file turns to `torch.export`, the C++ that reads it stops with an error about the archive. "
        "Torch 2.15 still has the whole interface."
    ),
    fix=(
        "None: C++ is not rewritten. A program that `torch.export` made is compiled to a package by "
        "`torch._inductor.aoti_compile_and_package` and read by `torch::inductor::AOTIModelPackageLoader` (a server, the same "
        "machine as the one it is compiled on), or lowered by ExecuTorch (phones, microcontrollers). Both ends change together: "
        "the finding names the Python that names the same file."
    ),
    targets=(),
    check=nothing,
    text_kinds=frozenset({"cpp"}),
    text_triggers=("jit & jit::", "jit & torch::jit"),
    deprecated=TorchVersion(2, 10),
    sources=(
        "torch/csrc/jit/serialization/import.h, torch/csrc/jit/api/module.h and torch/csrc/inductor/aoti_package/model_package_loader.h of torch 2.15.0",
        "https://docs.pytorch.org/docs/stable/torch.compiler_aot_inductor.html, read 2026-11-21",
        "https://docs.pytorch.org/executorch/stable/, read 2026-11-21",
    ),
)

# What the dispatcher and the autograd of custom operators use, and names of c10 that `torch::jit` passes on.
_NO_TORCHSCRIPT = frozenset(
    "IValue Future Shared QualifiedName Type TypePtr TypeKind TupleType TensorType ListType DictType "
    "Stack push pop push_one drop peek last pack popSlice peekSlice tracer RegisterOperators Operator FunctionSchema Symbol Argument "
    "CustomClassHolder class_ init getCustomClass isCustomClass registerCustomClass registerCustomClassMethod".split()
)
# Names of graphs, for code that reads or rewrites them.
_GRAPHS = frozenset("Graph Node Value Block Use WithInsertPoint PassManager SubgraphRewriter AliasDb Inline".split())
_MAKES = frozenset({"compile", "freeze", "optimize_for_inference", "trace", "tracer::trace", "save", "ExportModule"})
_STEPS = "Where that is a model, export it in Python with `torch.export.export`, then {successor}."
_OF_GRAPHS = (
    "An exported program is a graph of torch.fx (`program.graph`), read and rewritten in Python: what does that here is written anew, as a "
    "pass, a backend of `torch.compile` or a delegate of ExecuTorch."
)
_VALUES = " AOTInductor's loader gives and takes `std::vector<at::Tensor>`, not `IValue`s."


_ON_A_PHONE = _STEPS.format(successor=EXECUTORCH)
_PHONES = lazy_pattern(r"(?i)(?:^|/)(?:android|ios|jni)[\w-]*/|android|/app/src/main/")


def _steps(view: TextView) -> str:
    """What takes the place of a program in C++: on a phone another runtime than elsewhere."""
    return _ON_A_PHONE if _PHONES.search(view.path) else _STEPS.format(successor=AOTI) + _VALUES


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    branches = Branches(view.code, context.settings.target)
    found = [
        item
        for item in torchscript_in(view)
        if item.name.partition("::")[0] not in _NO_TORCHSCRIPT and branches.may_compile(item.span.start)
    ]
    rest = []
    for item in found:
        if item.is_load:
            yield _load(view, item, context)
        elif item.name.removeprefix("script::") in _MAKES:
            message = f"`torch::jit::{item.name}` makes or changes TorchScript, which is deprecated since torch 2.10."
            yield Finding("TL601", view.path, item.span, message, Severity.WARNING, _steps(view))
        else:
            rest.append(item)
    if rest and len(rest) == len(found):  # where a file is read, that says it all
        names = [*dict.fromkeys(f"`torch::jit::{item.name}`" for item in rest)]
        more = f" and {len(names) - 3} more names" if len(names) > 3 else ""
        places = "" if len(rest) == 1 else f" ({len(rest)} places in this file)"
        graphs = any(item.name.removeprefix("script::").partition("::")[0] in _GRAPHS for item in rest)
        does = "reads or makes graphs of" if graphs else "uses"
        message = (
            f"{', '.join(names[:3])}{more}{places}: C++ that {does} TorchScript, which is deprecated since torch 2.10."
        )
        help = _OF_GRAPHS if graphs else _steps(view)
        yield Finding("TL601", view.path, rest[0].span, message, Severity.INFO, help)


def _load(view: TextView, item: CppTorchScript, context: TextContext) -> Finding:
    what = f"`{item.file}`" if item.file else "a file"
    message = (
        f"`torch::jit::{item.name}` reads {what} that only TorchScript writes, which is deprecated since torch 2.10."
    )
    writers = python_naming(context.project, item.file) if item.file else ()
    linked = f" Python names `{item.file}` at {', '.join(writers[:4])}: both ends change together." if writers else ""
    help = (_ON_A_PHONE if item.is_mobile else _steps(view)) + linked
    return Finding("TL601", view.path, item.span, message, Severity.WARNING, help)


EXAMPLES = (
    Bad(
        '#include <torch/script.h>\n\nint main() {\n  auto net = torch::jit::load("net.pt");\n}\n',
        why="a file is loaded",
        path="serve.cpp",
        files=(
            ("train.py", "import torch\n\n\ndef write(net):\n    torch.jit.save(torch.jit.script(net), 'net.pt')\n"),
        ),
    ),
    Bad(
        "#include <torch/script.h>\nusing namespace torch;\n\njit::script::Module read(const std::string& path) {\n"
        "  return jit::load(path);\n}\n",
        why="through a namespace",
        path="read.cc",
    ),
    Bad(
        "#pragma once\n#include <torch/script.h>\n\nclass Model {\n  torch::jit::script::Module module_;\n};\n",
        why="a member of a class",
        path="model.hpp",
    ),
    Bad(
        "#include <torch/csrc/jit/mobile/import.h>\n\nauto module = torch::jit::_load_for_mobile(path);\n",
        why="the mobile interpreter",
        path="ios/Runner.mm",
    ),
    Ok("// auto net = torch::jit::load(path);\n/* torch::jit::Module */\nint torch = 0;\n", "comments", "a.cpp"),
    Ok('const char* kHelp = "calls torch::jit::load";\nauto s = R"(torch::jit::load)";\n', "strings", "b.cpp"),
    Ok(
        "#include <torch/library.h>\n\nvoid boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {\n"
        "  torch::jit::push(*stack, torch::jit::pop(*stack));\n}\n",
        "a boxed kernel",
        "c.cpp",
    ),
    Ok(
        "namespace my { namespace jit { void load(int); } }\nint torch;\nvoid f() { my::jit::load(1); }\n",
        "another jit",
        "d.cpp",
    ),
    Ok(
        "#include <torch/version.h>\n#if TORCH_VERSION_MAJOR < 2\nauto net = torch::jit::load(path);\n#endif\n",
        "a branch for older releases",
        "e.cpp",
    ),
    Ok(
        "#include <torch/csrc/inductor/aoti_package/model_package_loader.h>\n\n"
        'torch::inductor::AOTIModelPackageLoader loader("net.pt2");  // was torch::jit::load\n',
        "AOTInductor's loader",
        "f.cpp",
    ),
)
