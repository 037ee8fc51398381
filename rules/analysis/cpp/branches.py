"""Which parts of a C++ file are compiled with a release of torch: `#if` and what belongs to it."""

from __future__ import annotations

import re
from bisect import bisect_right

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.cpp.conditions import value_of
from torchlift.versions import TorchVersion

_DIRECTIVE = lazy_pattern(r"^[ \t]*#[ \t]*(ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b([^\n]*)", re.MULTILINE)
_NAME = lazy_pattern(r"[A-Za-z_]\w*")
# A macro that tells releases apart: `VERSION_GE_1_5`, `TORCH_1_12`, `PYTORCH_VERSION`, `OLD_TORCH`; or one of torch's own, of which
# some releases have the one and others its successor: `#ifndef TORCH_CHECK`.
_RELEASE = lazy_pattern(
    r"VER(?:SION)?(?:_|\b|\d)|_[GL][ET]_|_(?:V)?[012]_\d+|(?:TORCH|ATEN)_?[012]|OLD|NEW|LEGACY|BEFORE|AFTER|SINCE"
    r"|^(?:AT|TORCH|C10)_(?:\w*CHECK|\w*ASSERT\w*|ERROR|WARN\w*|LIBRARY\w*|DISPATCH\w*)$"
)
_OF_OTHERS = lazy_pattern(
    r"CUDA|CUDNN|CUBLAS|CUSPARSE|NCCL|HIP|ROCM|GNUC|CLANG|MSC|INTEL|CUB|THRUST|CUTLASS|OPENCV|CV_|PY_|PYTHON|PYBIND|NUMPY|NPY|BOOST"
    r"|TENSORRT|TRT|ONNX|EIGEN|PROTOBUF|GOOGLE|ANDROID|APPLE|MAC_OS|IPHONE|WIN|STDC|__cplusplus|KOKKOS|QT"
)


@dataclass(frozen=True)
class _Region:
    """From here to the next region: whether it is compiled, and the names that decide it besides the release.

    Attributes:
        start: where it begins.
        live: False where the release leaves it out.
        names: names of conditions that nothing is known of.
    """

    start: int
    live: bool
    names: frozenset[str]


class Branches:
    """The branches of one file under one release.

    Args:
        code: the text without comments.
        release: the torch it is compiled with.
    """

    def __init__(self, code: str, release: TorchVersion) -> None:
        self._regions = _regions(code, release) if "#" in code else [_Region(0, True, frozenset())]

    def may_compile(self, offset: int, *names: str) -> bool:
        """Whether the line is compiled with the release, as far as is known.

        False, too, where a macro that may stand for a release of torch decides, or a test for one of `names`.
        """
        at = bisect_right(self._regions, offset, key=lambda region: region.start) - 1
        region = self._regions[max(at, 0)]
        return region.live and not any(name in names or _tells_releases(name) for name in region.names)


def _tells_releases(name: str) -> bool:
    return _RELEASE.search(name) is not None and _OF_OTHERS.search(name) is None


def _regions(code: str, release: TorchVersion) -> list[_Region]:
    regions = [_Region(0, True, frozenset())]
    # For each open `#if`: whether its arm is compiled, whether one before it surely was, the names it depends on.
    stack: list[tuple[bool, bool, frozenset[str]]] = []
    for match in _DIRECTIVE.finditer(code):
        word, condition = match[1], match[2]
        if word == "endif":
            if stack:
                stack.pop()
        elif word == "else" or word.startswith("elif"):
            if not stack:
                continue
            _, taken, names = stack.pop()
            value, more = (
                (1, frozenset[str]()) if word == "else" else _read(word.removeprefix("el"), condition, release)
            )
            stack.append((not taken and value != 0, taken or bool(value), names | more))
        else:
            value, names = _read(word, condition, release)
            stack.append((value != 0, bool(value), names))
        live = all(arm for arm, _, _ in stack)
        names = frozenset[str]().union(*(names for _, _, names in stack))
        regions.append(_Region(match.end(), live, names))
    return regions


def _read(word: str, condition: str, release: TorchVersion) -> tuple[int | None, frozenset[str]]:
    if word == "ifdef":
        condition = f"defined({condition.strip()})"
    elif word == "ifndef":
        condition = f"!defined({condition.strip()})"
    value = value_of(condition, release)
    if value is not None:
        return value, frozenset()
    return None, frozenset(_NAME.findall(condition)) - {"defined"}
