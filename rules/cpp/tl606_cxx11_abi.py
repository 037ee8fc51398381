"""The C++ ABI that torch's wheels had until 2.6."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.rules.rule import Bad, Context, Ok, Rule, TextContext
from torchlift.source import Span
from torchlift.versions import TorchVersion
from torchlift.view.text import TextView
from torchlift.view.walk import walk

_SINCE = TorchVersion(2, 7)

RULE = Rule(
    code="TL606",
    name="cxx11-abi",
    summary="C++ is compiled for the ABI that the wheels of torch had until 2.6",
    why=(
        "The wheels of torch on PyPI were built with `_GLIBCXX_USE_CXX11_ABI=0` until 2.6 and with 1 since 2.7. What is compiled with "
        "the other value does not find the functions that take strings or lists: `undefined symbol: _ZN3c10...` when it is "
        "linked or imported. `torch.utils.cpp_extension` and `${TORCH_CXX_FLAGS}` pass the right value by themselves."
    ),
    fix="None: other libraries that the program links may need the value, too. The help says what to do.",
    targets=(),
    triggers=("D_GLIBCXX_USE_CXX11_ABI & torch",),
    text_triggers=("_GLIBCXX_USE_CXX11_ABI", "D_GLIBCXX_USE_CXX11_ABI"),
    text_kinds=frozenset({"cmake", "cpp", "shell", "makefile", "dockerfile"}),
    since=_SINCE,
    severity=Severity.ERROR,
    sources=(
        "TORCH_CXX_FLAGS in share/cmake/Torch/TorchConfig.cmake of the wheels of torch 1.0.1 to 2.15.0 for Linux on PyPI: 0 until 2.6.0, 1 in 2.7.1, none since 2.8; read 2026-11-26",
        "https://gcc.gnu.org/onlinedocs/libstdc++/manual/using_dual_abi.html",
    ),
)

_FLAG = lazy_pattern(
    r"(?:-D\s*|\b)_GLIBCXX_USE_CXX11_ABI\s*=\s*0\b|^[ \t]*#[ \t]*define[ \t]+_GLIBCXX_USE_CXX11_ABI[ \t]+0\b",
    re.MULTILINE,
)
_IN_A_STRING = lazy_pattern(r"-D_GLIBCXX_USE_CXX11_ABI=0")
_MESSAGE = (
    "The wheels of torch 2.7 and later have the other C++ ABI (`_GLIBCXX_USE_CXX11_ABI=1`): what is compiled with 0 does not "
    "find their functions that take strings."
)
_HELP = (
    "Leave the definition out; in Python `torch._C._GLIBCXX_USE_CXX11_ABI` is what torch was built with. "
    "Other libraries in the same program have to be built with 1, too."
)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    if "torch" not in view.code.lower():
        return
    for match in _FLAG.finditer(view.code):
        if not is_shown(view, match.start()):
            span = Span(match.start() + len(match[0]) - len(match[0].lstrip()), match.end())
            yield Finding("TL606", view.path, span, _MESSAGE, Severity.ERROR, _HELP)


def whole(context: Context) -> Iterator[Finding]:
    view = context.view
    for node in walk(view.tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and _IN_A_STRING.fullmatch(node.value.strip())
        ):
            yield Finding("TL606", view.path, view.span(node), _MESSAGE, Severity.ERROR, _HELP)


EXAMPLES = (
    Bad(
        "find_package(Torch REQUIRED)\nadd_definitions(-D_GLIBCXX_USE_CXX11_ABI=0)\n",
        why="a definition in CMake",
        path="CMakeLists.txt",
    ),
    Bad(
        "from torch.utils.cpp_extension import CppExtension\n\n"
        "EXTENSION = CppExtension('fast', ['fast.cpp'], extra_compile_args=['-O3', '-D_GLIBCXX_USE_CXX11_ABI=0'])\n",
        why="a flag in Python",
        path="setup.py",
    ),
    Bad(
        "TORCH := $(shell python -c 'import torch; print(torch.__path__[0])')\nCXXFLAGS += -O3 -D_GLIBCXX_USE_CXX11_ABI=0\n",
        why="a flag in a makefile",
        path="Makefile",
    ),
    Bad("#define _GLIBCXX_USE_CXX11_ABI 0\n#include <torch/torch.h>\n", why="a macro", path="main.cpp"),
    Ok("find_package(Torch REQUIRED)\n# add_definitions(-D_GLIBCXX_USE_CXX11_ABI=0)\n", "a comment", "CMakeLists.txt"),
    Ok("add_definitions(-D_GLIBCXX_USE_CXX11_ABI=0)\n", "a project without torch", "CMakeLists.txt"),
    Ok(
        "find_package(Torch REQUIRED)\nadd_definitions(-D_GLIBCXX_USE_CXX11_ABI=1)\n",
        "the ABI of today",
        "CMakeLists.txt",
    ),
    Ok(
        "import torch\n\nFLAG = '-D_GLIBCXX_USE_CXX11_ABI=' + str(int(torch._C._GLIBCXX_USE_CXX11_ABI))\n",
        "taken from torch",
        "setup.py",
    ),
)
