"""Images that container files and CI build on, where their tags tell a CUDA, a torch or a Python.

Sources of the tags' forms: the pages of nvidia/cuda, pytorch/pytorch and python on Docker Hub.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.source import Span
from torchlift.view.text import TextView

_FROM = re.compile(r"^\s*FROM\s+(?:--platform=\S+\s+)?[\"']?(?P<image>[^\s\"']+)", re.IGNORECASE)
_YAML = re.compile(r"(?:^|[\s{,-])(?:image|container|name)\s*:\s*[\"']?(?P<image>[^\s\"'},]+)")
_HUB = r"(?:(?:docker\.io|index\.docker\.io|mirror\.gcr\.io|public\.ecr\.aws/docker)/)?"
_CUDA = re.compile(
    rf"{_HUB}(?:nvcr\.io/)?nvidia/cuda:(?P<cuda>\d+\.\d+)(?:\.\d+)?-(?:cudnn\d*-)?(?P<flavour>base|runtime|devel)\b"
)
_TORCH = re.compile(
    rf"{_HUB}pytorch/pytorch:(?P<torch>\d+\.\d+(?:\.\d+)?)-cuda(?P<cuda>\d+\.\d+)-cudnn\d+-(?P<flavour>runtime|devel)\b"
)
_PYTHON = re.compile(rf"{_HUB}(?:library/)?python:(?P<python>3\.\d+)(?:\.\d+)?(?:-[\w.-]+)?\Z")


@dataclass(frozen=True, slots=True)
class ImageLine:
    """A base image.

    Attributes:
        kind: whose it is.
        span: its name and tag.
        name: the same as text.
        cuda: (12, 1), None where it has none.
        torch: "2.1.0" for images of PyTorch.
        python: "3.10" for images of Python.
        compiler: whether it holds nvcc.
        stage: number of the build stage that it begins, 0 for the first.
    """

    kind: Literal["cuda", "torch", "python"]
    span: Span
    name: str
    cuda: tuple[int, int] | None = None
    torch: str | None = None
    python: str | None = None
    compiler: bool = False
    stage: int = 0


def read_images(view: TextView) -> list[ImageLine]:
    """The images of a container file or a YAML file whose tags say something; those of a container file by stage."""
    pattern = {"dockerfile": _FROM, "yaml": _YAML}.get(view.kind)
    if pattern is None:
        return []
    return list(_images(view, pattern))


def stages(view: TextView) -> list[int]:
    """Where the build stages of a container file begin."""
    return [line.start for line in view.lines if _FROM.match(line.text)]


def _images(view: TextView, pattern: re.Pattern[str]) -> Iterator[ImageLine]:
    stage = -1
    for line in view.lines:
        for match in pattern.finditer(line.text):
            stage += 1
            name = match["image"]
            span = line.span(*match.span("image"))
            if found := _CUDA.match(name):
                yield ImageLine(
                    "cuda", span, name, _pair(found["cuda"]), None, None, found["flavour"] == "devel", stage
                )
            elif found := _TORCH.match(name):
                devel = found["flavour"] == "devel"
                yield ImageLine("torch", span, name, _pair(found["cuda"]), found["torch"], None, devel, stage)
            elif found := _PYTHON.match(name):
                yield ImageLine("python", span, name, python=found["python"], stage=stage)


def _pair(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)
