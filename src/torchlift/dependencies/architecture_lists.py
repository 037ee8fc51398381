"""Lists of GPU architectures that CUDA code is compiled for: TORCH_CUDA_ARCH_LIST, -gencode, CMAKE_CUDA_ARCHITECTURES.

Sources: `_get_cuda_arch_flags` in torch/utils/cpp_extension.py of torch 2.15.0; "Options for Steering GPU Code Generation"
in the documentation of nvcc; `CMAKE_CUDA_ARCHITECTURES` in CMake's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span

_NAME = r"(?<![\w$.{(-])(?:-D)?"
_LIST = lazy_pattern(
    _NAME + r"(?P<name>TORCH_CUDA_ARCH_LIST|CMAKE_CUDA_ARCHITECTURES|CUDA_ARCHITECTURES)[\"']?"
    r"(?:[ \t]*[:?+]?=[ \t]*|[ \t]*:[ \t]+|[ \t]+)"
    r"(?:\"(?P<double>[^\"\r\n]*)\"|'(?P<single>[^'\r\n]*)'|(?P<bare>[^\s\"',}&|)]*))"
)
_SET = lazy_pattern(
    r"(?<!\w)set\s*\(\s*(?P<name>CMAKE_CUDA_ARCHITECTURES|TORCH_CUDA_ARCH_LIST)[ \t]+"
    r"(?:\"(?P<double>[^\"\r\n]*)\"|(?P<bare>[^()\"\r\n]*?))\s*(?:CACHE\b[^()]*)?\)"
)
_GENCODE = lazy_pattern(
    r"(?<![\w-])-?-(?:gencode|generate-code)(?:[ \t=]*|[\"'],[ \t]*[\"'])(?P<flag>arch=compute_(?P<arch>\d{2,3})[af]?,"
    r"code=\[?[\w,]+\]?)"
)
_TORCH_ITEM = lazy_pattern(r"(?P<number>\d{1,2}\.\d)(?P<suffix>[af]?)(?P<ptx>\+PTX)?\Z")
_CMAKE_ITEM = lazy_pattern(r"(?P<number>\d{2,3})(?P<suffix>[af]?)(?P<ptx>-real|-virtual)?\Z")
_SEPARATOR = lazy_pattern(r"[; ,]+")


@dataclass(frozen=True, slots=True)
class ListedArchitecture:
    """One architecture of a list.

    Attributes:
        capability: (7, 0).
        text: as written.
        ptx: whether it brings PTX, which newer GPUs can compile.
        span: where it stands.
    """

    capability: tuple[int, int]
    text: str
    ptx: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ArchitectureList:
    """A list.

    Attributes:
        kind: "torch" for TORCH_CUDA_ARCH_LIST, "cmake", or "gencode" for the flags of one command or line.
        name: for messages.
        span: the value, or the first flag.
        items: its architectures.
        separator: what stands between them.
        whole: whether every item was understood, so that the list can be written anew.
    """

    kind: Literal["torch", "cmake", "gencode"]
    name: str
    span: Span
    items: tuple[ListedArchitecture, ...]
    separator: str = ";"
    whole: bool = True


def architecture_lists(text: str, start: int, *, cmake: bool = False) -> Iterator[ArchitectureList]:
    """The lists in `text`, which begins at `start`."""
    for match in (_SET if cmake else _LIST).finditer(text):
        groups = match.groupdict()
        group = next((name for name in ("double", "single", "bare") if groups.get(name) is not None), None)
        if group is None:
            continue
        found = _read(match["name"], match[group], start + match.start(group))
        if found is not None:
            yield found
    flags = [
        ListedArchitecture(_pair(match["arch"]), match["flag"], "code=compute" in match["flag"] or "[compute" in match["flag"], Span(
            start + match.start("flag"), start + match.end("flag")
        ))
        for match in _GENCODE.finditer(text)
    ]  # fmt: skip
    if flags:
        yield ArchitectureList("gencode", "-gencode", flags[0].span, tuple(flags), " ", whole=False)


def _read(name: str, value: str, start: int) -> ArchitectureList | None:
    torch = name == "TORCH_CUDA_ARCH_LIST"
    pattern = _TORCH_ITEM if torch else _CMAKE_ITEM
    items = []
    position = 0
    whole = True
    for part in _SEPARATOR.split(value):
        position = value.index(part, position)
        match = pattern.match(part)
        if match is not None:
            number = match["number"]
            ptx = bool(match["ptx"]) if torch else match["ptx"] != "-real"
            span = Span(start + position, start + position + len(part))
            items.append(ListedArchitecture(_pair(number.replace(".", "")), part, ptx, span))
        elif part:
            whole = False
        position += len(part)
    if not items:
        return None
    separator = _SEPARATOR.search(value)
    return ArchitectureList(
        "torch" if torch else "cmake",
        name,
        Span(start, start + len(value)),
        tuple(items),
        separator[0] if separator else ";",
        whole,
    )


def _pair(digits: str) -> tuple[int, int]:
    return int(digits[:-1]), int(digits[-1])
