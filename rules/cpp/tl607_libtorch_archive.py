"""Archives of libtorch that are older than the release the project moves to."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.rules.rule import Bad, Ok, Rule, TextContext, nothing
from torchlift.source import Span
from torchlift.versions import TorchVersion
from torchlift.view.text import TextView

RULE = Rule(
    code="TL607",
    name="libtorch-archive",
    summary="An archive of libtorch is older than the torch that the project moves to",
    why=(
        "An address such as `.../libtorch/cu121/libtorch-cxx11-abi-shared-with-deps-2.3.0%2Bcu121.zip` decides which torch C++ is built "
        "with, whatever Python installs. Both have to be one release where they share a process, or a file that only the newer one "
        "reads."
    ),
    fix=(
        "None: which CUDA the new archive is to have depends on machines. Since 2.8 the names of Linux archives have no `cxx11-abi` "
        "any more."
    ),
    targets=(),
    check=nothing,
    text_kinds=frozenset({"shell", "dockerfile", "yaml", "makefile", "env", "cmake", "batch", "powershell"}),
    text_triggers=("libtorch",),
    sources=(
        "https://github.com/mlverse/torch/pull/1409 (`cxx11-abi` left the names in 2.8.0), read 2026-11-26",
        "https://github.com/pytorch/pytorch/issues/121837 (the addresses), read 2026-11-26",
    ),
)

_ARCHIVE = lazy_pattern(
    r"\blibtorch(?:-[a-z][a-z0-9]*)*-(?P<release>[12]\.\d{1,2}\.\d{1,2})(?:(?:%2B|\+)[a-z]+[\d.]*)?\.(?:zip|tar\.gz)"
)
_NO_ABI_SINCE = TorchVersion(2, 8)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    target = context.settings.target
    for match in _ARCHIVE.finditer(view.code):
        release = TorchVersion.parse(match["release"])
        if release[:2] >= target[:2] or is_shown(view, match.start()):
            continue
        renamed = "; it has no `cxx11-abi` in its name" if "cxx11-abi" in match[0] and target >= _NO_ABI_SINCE else ""
        message = f"libtorch {release} is older than torch {target}, which the project moves to."
        help = f"Take the archive of {target} (one with CUDA has to be of a CUDA that it is built for){renamed}."
        yield Finding("TL607", view.path, Span(*match.span()), message, Severity.WARNING, help)


_URL = "https://download.pytorch.org/libtorch"
EXAMPLES = (
    Bad(
        f"wget {_URL}/cu121/libtorch-cxx11-abi-shared-with-deps-2.3.0%2Bcu121.zip\n",
        why="fetched by a script",
        path="install.sh",
    ),
    Bad(
        f'FROM ubuntu:22.04\nRUN curl -LO "{_URL}/cpu/libtorch-shared-with-deps-1.13.1%2Bcpu.zip" && unzip libtorch*.zip\n',
        why="fetched by a container file",
        path="Dockerfile",
    ),
    Bad(
        f"FetchContent_Declare(libtorch\n  URL {_URL}/cpu/libtorch-macos-arm64-2.2.1.zip)\n",
        why="fetched by CMake",
        path="cmake/libtorch.cmake",
    ),
    Ok(f"wget {_URL}/cpu/libtorch-shared-with-deps-2.15.0%2Bcpu.zip\n", "the release that is moved to", "a.sh"),
    Ok(f"# wget {_URL}/cpu/libtorch-shared-with-deps-2.3.0%2Bcpu.zip\n", "a comment", "b.sh"),
    Ok(f"wget {_URL}/cpu/libtorch-shared-with-deps-${{VERSION}}%2Bcpu.zip\n", "a release from a variable", "c.sh"),
    Ok("echo 'unzip libtorch-shared-with-deps-2.3.0.zip first'\n", "a text that is shown", "d.sh"),
)
