"""Images that container files, CI, scripts and code name, where their tags tell a CUDA, a torch or a Python.

Sources of the tags' forms: the pages of nvidia/cuda, pytorch/pytorch and python on Docker Hub; of nvidia/pytorch on NGC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from torchlift.dependencies.commands import is_command
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import TextView

_FROM = lazy_pattern(r"^\s*FROM:?\s+(?:--platform=\S+\s+)?[\"']?(?P<image>[^\s\"']+)", re.IGNORECASE)
_STAGE = lazy_pattern(r"[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>\S+)(?:[ \t]+AS[ \t]+(?P<name>\S+))?", re.IGNORECASE)
_YAML = lazy_pattern(
    r"(?:^|[\s{,-])[\"']?(?:image|image_id|base_image|container|name)[\"']?\s*:\s*[\"']?(?:docker:)?(?:\$\{\w+:?-)?(?P<image>[^\s\"'},]+)"
)
# A mirror keeps the name behind its own: `registry.example.com/library/nvidia/cuda`, `${REGISTRY}nvidia/cuda`; enroot puts a `#` there.
_HUB = r"(?:docker://)?(?:\$\{?\w+(?::?-[^}\s]*)?\}?/?)?(?:[\w-]+(?:\.[\w-]+)+(?::\d+)?[/#](?:[\w.-]+/)*?)?"
_CUDA = lazy_pattern(rf"{_HUB}nvidia/cuda:(?P<cuda>\d+\.\d+)(?:\.\d+)?-(?:cudnn\d*-)?(?P<flavour>base|runtime|devel)\b")
_TORCH = lazy_pattern(
    rf"{_HUB}pytorch/pytorch:(?P<torch>\d+\.\d+(?:\.\d+)?)-cuda(?P<cuda>\d+(?:\.\d+)?)-cudnn\d+(?:\.\d+)?-(?P<flavour>runtime|devel)\b"
)
_NIGHTLY = lazy_pattern(
    rf"{_HUB}pytorch/pytorch:nightly-(?P<flavour>runtime|devel)-cuda(?P<cuda>\d+(?:\.\d+)?)-cudnn\d+\b"
)
_NGC = lazy_pattern(rf"{_HUB}nvidia/pytorch:(?P<tag>\d\d\.\d\d)(?:\.\d+)?-py3\b")
_FILLED = lazy_pattern(r"\$\{?(?P<name>\w+)(?::-[^}]*)?\}?")
_WHOLE_TAG = lazy_pattern(r":\$\{?\w+\}?\Z")
_PYTHON = lazy_pattern(rf"{_HUB}(?:library/)?python:(?P<python>3\.\d+)(?:\.\d+)?(?:-[\w.-]+)?\Z")


_OLD_SYSTEM = lazy_pattern(r"-(ubuntu(?:14|16|18)\.04|centos[67])\b")
# Sources: release notes of Ubuntu, package lists of CentOS, 2026-11-26.
_GLIBC = {"ubuntu14.04": "2.19", "ubuntu16.04": "2.23", "ubuntu18.04": "2.27", "centos6": "2.12", "centos7": "2.17"}
_ANYWHERE = lazy_pattern(
    r"(?<![\w./-])(?:docker://)?(?:[\w-]+(?:\.[\w-]+)+[/#](?:[\w-]+/)*)?(?:pytorch/pytorch|nvidia/pytorch):[\w.-]+"
)


@dataclass(frozen=True, slots=True)
class ImageLine:
    """A base image.

    Attributes:
        kind: whose it is.
        span: its name and tag.
        name: the same as text.
        cuda: (12, 1), None where it has none.
        torch: "2.1.0" for images of PyTorch; None for those of a night.
        python: "3.10" for images of Python.
        compiler: whether it holds nvcc.
        stage: number of the build stage that it begins, 0 for the first; -1 where it begins none.
        release: "24.05" for the images of NGC, whose torch only a table knows.
        told: the value of the variable that fills the name in, where one does.
    """

    kind: Literal["cuda", "torch", "python", "ngc"]
    span: Span
    name: str
    cuda: tuple[int, int] | None = None
    torch: str | None = None
    python: str | None = None
    compiler: bool = False
    stage: int = 0
    release: str | None = None
    told: Span | None = None


def read_images(view: TextView) -> list[ImageLine]:
    """The images of a text file whose tags say something: those that begin a stage or a job, with their number, and those of
    torch that stand anywhere else."""
    pattern = {"dockerfile": _FROM, "yaml": _YAML}.get(view.kind)
    found = list(_images(view, pattern)) if pattern else []
    taken = {image.span for image in found}
    for match in _ANYWHERE.finditer(view.code):
        span, line = Span(*match.span()), view.line_at(match.start())
        image = None if span in taken or line is None else image_named(match[0], span, -1)
        if image is not None and line is not None and is_command(view, line, match.start()):
            found.append(image)
    return found


def image_named(name: str, span: Span, stage: int = 0) -> ImageLine | None:
    """What the name and tag of an image say; None where they say nothing."""
    if match := _CUDA.match(name):
        return ImageLine("cuda", span, name, _pair(match["cuda"]), None, None, match["flavour"] == "devel", stage)
    if match := _TORCH.match(name):
        devel = match["flavour"] == "devel"
        return ImageLine("torch", span, name, _pair(match["cuda"]), match["torch"], None, devel, stage)
    if match := _NIGHTLY.match(name):
        return ImageLine("torch", span, name, _pair(match["cuda"]), None, None, match["flavour"] == "devel", stage)
    if match := _NGC.match(name):
        return ImageLine("ngc", span, name, compiler=True, stage=stage, release=match["tag"])
    if match := _PYTHON.match(name):
        return ImageLine("python", span, name, python=match["python"], stage=stage)
    return None


def old_system(image: ImageLine) -> str | None:
    """The system in an image's tag and its C library, "ubuntu18.04, has glibc 2.27", where that is older than 2.28."""
    system = _OLD_SYSTEM.search(image.name)
    return None if system is None else f"{system[1]}, has glibc {_GLIBC[system[1]]}"


def stages(view: TextView) -> list[int]:
    """Where the build stages of a container file begin."""
    return [line.start for line in view.lines if _FROM.match(line.text)]


def stage_spans(view: TextView, image: ImageLine) -> list[Span]:
    """What is built on an image: from its name to the next stage, and the stages that go on from this one by its name."""
    starts = [*stages(view), len(view.source.text)]
    begin = max((start for start in starts if start <= image.span.start), default=0)
    end = next((start for start in starts if start > image.span.start), starts[-1])
    first = _STAGE.match(view.code, begin)
    found, names = [Span(image.span.start, end)], {((first and first["name"]) or "").lower()} - {""}
    for start, after in pairwise(starts):
        stage = _STAGE.match(view.code, start)
        if start < end or stage is None:
            continue
        own = {(stage["name"] or "").lower()} - {""}
        if stage["image"].lower() in names:
            found.append(Span(start, after))
            names |= own
        else:
            names -= own  # another stage has the name from here on
    return found


def _images(view: TextView, pattern: re.Pattern[str]) -> Iterator[ImageLine]:
    stage = -1
    for line in view.lines:
        for match in pattern.finditer(line.text):
            stage += 1
            span = line.span(*match.span("image"))
            image = image_named(match["image"], span, stage) or filled_image(view, match["image"], span, stage)
            if image is not None:
                yield image


def filled_image(view: TextView, name: str, span: Span, stage: int = -1) -> ImageLine | None:
    """The image of CUDA or NGC whose name or tag has values of variables of the file, or the one of PyTorch whose whole tag is one; else
    the variable has a version to exchange."""
    used = {match["name"] for match in _FILLED.finditer(name)} if view.kind in {"dockerfile", "shell"} else set()
    if not used:
        return None
    from torchlift.dependencies.assignments import assignments  # few names have variables in them

    # A FROM sees what ARG says above all of them
    first = stages(view)[0] if view.kind == "dockerfile" else span.start
    given = {item.name: item for item in reversed(assignments(view)) if item.name in used and item.span.start < first}
    if given.keys() != used:
        return None
    image = image_named(_FILLED.sub(lambda match: given[match["name"]].value, name), span, stage)
    whole = image is not None and image.kind == "torch" and _WHOLE_TAG.search(name) is not None
    if image is None or not (image.kind in {"cuda", "ngc"} or whole):
        return None
    digits = image.release or ".".join(map(str, image.cuda or ()))
    told = next((item for item in given.values() if digits in item.value), None)
    return replace(image, told=told.span) if told is not None else None


def _pair(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)
