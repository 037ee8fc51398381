"""C++ standards below the one that torch's headers require."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceText, Safety, Severity
from torchlift.rules.analysis.cpp.standard import FLAG, LATER_FLAG, needed_standard
from torchlift.rules.analysis.places.order import excludes
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.source import Span
from torchlift.versions import TorchVersion
from torchlift.view import Binding, ModuleView, Use

_NAMES = tuple(
    f"torch.utils.cpp_extension.{name}"
    for name in ("CppExtension", "CUDAExtension", "SyclExtension", "load", "load_inline")
)

RULE = Rule(
    code="TL508",
    name="extension-standard",
    summary="An extension is compiled for a C++ standard below the one that torch's headers require",
    why=(
        "The headers of torch 2.1 to 2.13 stop below C++17, those of 2.14 and later below C++20. `torch.utils.cpp_extension` passes the "
        "right flag of its own (C++20 since 2.12), but one in `extra_cflags` or `extra_compile_args` takes its place."
    ),
    fix=(
        "For review: the flag is raised to the standard that the target needs. The compiler and the code have to know it. Files "
        "that name a later standard too, because they choose by release, are not reported."
    ),
    targets=_NAMES,
    triggers=tuple(
        f"cpp_extension & std={kind}++{number}" for kind in ("c", "gnu") for number in ("0x", "11", "14", "17")
    ),
    severity=Severity.ERROR,
    sources=(
        "ATen/ATen.h of torch 1.13.1 to 2.15.0 (`#error`), read 2026-11-26; g++ 12 -fsyntax-only of it with C++14, C++17 and C++20 on 2.13.0 and 2.15.0",
        "torch/utils/cpp_extension.py:3082 of torch 2.15.0; the first release with `-std=c++20` there is 2.12.1, 2.11.0 has C++17",
        "https://developer.nvidia.com/blog/cuda-toolkit-12-0-released-for-general-availability/ (nvcc has C++20 since CUDA 12.0), read 2026-11-23",
    ),
)

_CXX17_SINCE = TorchVersion(2, 1)
# Calls that ask about a flag, or take it away.
_NOT_PASSED = frozenset(
    {"remove", "replace", "index", "count", "startswith", "endswith", "check_compiler_flag", "discard"}
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, target = context.view, context.settings.target
    # A file that also names a later standard chooses between them, by the release as a rule.
    if use.call is None or target < _CXX17_SINCE or LATER_FLAG.search(view.source.text):
        return
    for node, match in _flags(view, use.call):
        standard = match["standard"]
        if (known := needed_standard(standard, target)) is None:
            continue
        needed, since = known
        found = match[0]
        message = (
            f"`{found}` is below what the headers of torch {since} and later accept (`#error C++{needed} or later compatible "
            "compiler is required to use ATen`), and it takes the place of the flag that `torch.utils.cpp_extension` would pass."
        )
        cuda = "" if use.target.endswith(("CppExtension", "SyclExtension")) else ", and nvcc of CUDA 12 for `.cu` files"
        review = (
            f"Needs review: the code has to compile as C++{needed} too, on every torch this project supports, which takes GCC 11, "
            f"Clang 14 or MSVC 2022{cuda}. Without any such flag `torch.utils.cpp_extension` passes the standard that fits the "
            "installed torch: dropping it is the better change where all the lists allow it."
            if needed == "20"
            else "Needs review: the code has to compile as C++17 too. Without any such flag `torch.utils.cpp_extension` passes the "
            "standard that fits the installed torch."
        )
        start = view.span(node).start + _offset(view, node, match)
        digits = match.start("standard") - match.start()
        span = Span(start + digits, start + digits + len(standard))
        fix = Fix(f"Ask for C++{needed}", Safety.UNSAFE, (ReplaceText(span, needed),), _CXX17_SINCE)
        yield Finding("TL508", view.path, view.span(node), message, Severity.ERROR, review, fix)


def _flags(view: ModuleView, call: ast.Call) -> Iterator[tuple[ast.Constant, re.Match[str]]]:
    """String constants among the arguments of `call`, and in the variables that stand there, that are such a flag."""
    waiting: list[ast.AST] = [*call.args, *call.keywords]
    followed: set[str] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Compare) or _takes_away(node):
            continue
        waiting.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in followed:
            followed.add(node.id)
            owner = view.scope_at(node).lookup(node.id)
            for binding in owner.bindings[node.id] if owner is not None else ():
                if binding.kind == "assign" and binding.value is not None and not excludes(view, binding.node, call):
                    waiting.append(binding.value)
                    waiting.extend(_added(view, binding))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = FLAG.fullmatch(node.value)
            if match is not None and view.text(node).count(match[0]) == 1:
                yield node, match


def _takes_away(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _NOT_PASSED


def _added(view: ModuleView, binding: Binding) -> Iterator[ast.expr]:
    """What is appended to a list in a variable later."""
    for read, _ in view.reads_of(binding):
        method = view.parent(read)
        call = (
            view.parent(method) if isinstance(method, ast.Attribute) and method.attr in {"append", "extend"} else None
        )
        if isinstance(call, ast.Call):
            yield from call.args


def _offset(view: ModuleView, node: ast.Constant, match: re.Match[str]) -> int:
    return view.text(node).index(match[0])


EXAMPLES = (
    Bad(
        "from setuptools import setup\nfrom torch.utils.cpp_extension import BuildExtension, CppExtension\n\n"
        "setup(\n    ext_modules=[CppExtension('fast', ['fast.cpp'], extra_compile_args=['-O3', '-std=c++17'])],\n"
        "    cmdclass={'build_ext': BuildExtension},\n)\n",
        "from setuptools import setup\nfrom torch.utils.cpp_extension import BuildExtension, CppExtension\n\n"
        "setup(\n    ext_modules=[CppExtension('fast', ['fast.cpp'], extra_compile_args=['-O3', '-std=c++20'])],\n"
        "    cmdclass={'build_ext': BuildExtension},\n)\n",
        safety="unsafe",
        why="an extension of a package",
        path="setup.py",
    ),
    Bad(
        "from torch.utils import cpp_extension\n\nFLAGS = [\n    '-O3',\n    '-std=gnu++14',  # for old compilers\n]\n\n\n"
        "def load():\n    return cpp_extension.load('fast', ['fast.cpp'], extra_cflags=FLAGS)\n",
        "from torch.utils import cpp_extension\n\nFLAGS = [\n    '-O3',\n    '-std=gnu++20',  # for old compilers\n]\n\n\n"
        "def load():\n    return cpp_extension.load('fast', ['fast.cpp'], extra_cflags=FLAGS)\n",
        safety="unsafe",
        why="compiled when it is loaded",
    ),
    Ok(
        "import torch\nfrom torch.utils.cpp_extension import load\n\n"
        "FLAG = '-std=c++20' if torch.__version__ >= '2.12' else '-std=c++17'\nload('fast', ['fast.cpp'], extra_cflags=[FLAG])\n",
        "chosen by the release",
    ),
    Ok(
        "from torch.utils.cpp_extension import load\n\nflags = []\nif '-std=c++17' in flags:\n    flags.remove('-std=c++17')\n"
        "load('fast', ['fast.cpp'], extra_cflags=flags)\n",
        "a flag that is taken away",
    ),
    Ok(
        "from setuptools import Extension, setup\n\n# not torch.utils.cpp_extension\n"
        "setup(ext_modules=[Extension('fast', ['fast.cpp'], extra_compile_args=['-std=c++17'])])\n",
        "an extension without torch",
    ),
    Ok(
        "from torch.utils.cpp_extension import load\n\nload('fast', ['fast.cpp'])  # no -std=c++17\n",
        "only in a comment",
    ),
    Ok(
        "from setuptools import Extension, setup\nfrom torch.utils.cpp_extension import CppExtension\n\n"
        "setup(\n    ext_modules=[\n        Extension('bleu', ['bleu.cpp'], extra_compile_args=['-std=c++11']),\n"
        "        CppExtension('fast', ['fast.cpp']),\n    ]\n)\n",
        "an extension without torch beside one with it",
    ),
)
