"""Images that container files, CI, scripts and code name, where their tags tell a CUDA, a torch or a Python.

Sources of the tags' forms: the pages of nvidia/cuda, pytorch/pytorch and python on Docker Hub; of nvidia/pytorch on NGC; "Available Deep
Learning Containers Images" of AWS, "Deep Learning Containers images" of Google Cloud, 2026-11-27. Pythons of continuumio/miniconda3:
the history of miniconda3/debian/Dockerfile in github.com/anaconda/docker-images up to a32b8c1, 2026-11-27.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from torchlift.dependencies.commands import is_command
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import TextView

if TYPE_CHECKING:
    from torchlift.dependencies.systems import BaseSystem

_FROM = lazy_pattern(r"^\s*FROM:?\s+(?:--platform=\S+\s+)?[\"']?(?P<image>[^\s\"']+)", re.IGNORECASE)
_TAGGED = lazy_pattern(
    r"[ \t]*(?P<dash>-[ \t]+)?(?P<key>[\w.-]+)[ \t]*:(?:[ \t]+(?P<quote>[\"']?)(?P<value>[^\s\"'{}]*)(?P=quote))?[ \t]*(?=\Z|#)"
)
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
_MOST_STEPS = 3
"""How often the value of a variable is looked for in the value of another."""
_WHOLE_TAG = lazy_pattern(r":\$\{?\w+\}?\Z")
_PYTHON = lazy_pattern(rf"{_HUB}(?:library/)?python:(?P<python>3\.\d+)(?:\.\d+)?(?:-[\w.-]+)?\Z")
_CONDA = lazy_pattern(rf"{_HUB}continuumio/miniconda3:(?P<release>\d[\w.-]*)\Z")
# The first release of Miniconda that came with each Python.
_PYTHON_OF_CONDA = (((4, 8), "3.8"), ((4, 10), "3.9"), ((22, 11), "3.10"), ((23, 5), "3.11"), ((24, 3), "3.12"))
# Anybody's image whose name or tag says which torch it was made with; `-torch112` is 1.12.
_MADE_WITH = lazy_pattern(
    r"(?:^|[-_.:/])(?:py)?(?:torch|pth?)[-_]?(?:(?:release|installer)[-_])?v?(?P<release>[012]\.\d+(?:\.\d+)?)(?!\d)"
    r"|pytorch-(?:gpu|cpu|xla|cu\d+)\.(?P<major>[12])-(?P<minor>\d+)"
    r"|(?:^|[-_.:/])(?:py)?torch(?P<first>[12])(?P<rest>(?<=1)\d\d|\d)(?=[-_]|\Z)"
)
_OF_THE_TAG = lazy_pattern(
    r"(?:^|/)(?:pytorch(?!:v?0)|(?:huggingface-)?pytorch-(?:training|inference)[\w-]*|intel-(?:extension-for|optimized)-pytorch"
    r"|[\w.-]*torch[\w.-]*(?=:v?[\d.]+[-_](?:cu(?:da)?\d|gpu|cpu|py(?:thon)?3|rocm\d)))"
    r":v?(?P<release>(?:0\.[1-4]|1\.\d\d?|2\.\d\d?)(?:\.\d+)?)(?![A-Za-z\d.])"
)
_ANYWHERE = lazy_pattern(r"(?:(?<![\w./$-])|(?<=:-))(?:docker://)?(?:\w[\w.-]*(?::\d+)?[/#])+[\w.-]+(?::[\w.-]+)?")
_FOR_A_GPU = lazy_pattern(r"cu(?:da)?-?\d|gpu|nvidia", re.IGNORECASE)
# The lines there are before 2.0, of which no table tells.
_IS_OF_TORCH = lazy_pattern(r"(?:0\.[2-4]|1\.(?:\d|1[0-3])|2\.\d\d?)(?:\.\d+)?\Z")
_NAMES_TORCH = lazy_pattern(r"torch|[-_:.]pth?[-_]?\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImageLine:
    """A base image.

    Attributes:
        kind: whose it is; "torch" is anybody's with a torch, "conda" Miniconda's, "system" one with nothing but a system.
        span: its name and tag.
        name: the same as text.
        cuda: (12, 1), None where it has none or does not tell it.
        torch: "2.1.0" for images with a torch; None for those of a night.
        python: "3.10" for images of Python and conda.
        compiler: whether it holds nvcc.
        stage: number of the build stage that it begins, 0 for the first; -1 where it begins none.
        release: "24.05" for the images of NGC, whose torch only a table knows.
        told: the value of the variable that fills the name in, where one does.
    """

    kind: Literal["cuda", "torch", "python", "ngc", "conda", "system"]
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
    if view.kind == "yaml" and ("tag:" in view.code or "newTag:" in view.code):
        found += _tagged(view)
    taken = {image.span for image in found}
    for match in _ANYWHERE.finditer(view.code) if _NAMES_TORCH.search(view.code) else ():
        if not _NAMES_TORCH.search(match[0]):
            continue
        span, line = Span(*match.span()), view.line_at(match.start())
        image = None if span in taken or line is None else image_named(match[0], span, -1)
        if (
            image is not None
            and line is not None
            and image.kind in {"torch", "ngc"}
            and is_command(view, line, match.start())
        ):
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
    if match := _CONDA.match(name):
        numbers = tuple(map(int, re.findall(r"\d+", match["release"])[:2]))
        python = next((python for since, python in reversed(_PYTHON_OF_CONDA) if numbers >= since), "3.7")
        return ImageLine("conda", span, name, python=python, stage=stage)
    if release := _torch_in(name):
        return ImageLine("torch", span, name, torch=release, stage=stage)
    # A name alone may be anything: a stage, a service
    return ImageLine("system", span, name, stage=stage) if ":" in name and _system_of(name) is not None else None


def _system_of(name: str) -> BaseSystem | None:
    from torchlift.dependencies.systems import system_of  # few runs see an image

    return system_of(name)


def _torch_in(name: str) -> str | None:
    """The torch that the name or tag of anybody's image says."""
    tagged = ":" in name.rpartition("/")[2]
    own = name[name.rpartition("/")[0].rfind("/") + 1 :] if tagged or "pytorch-" in name else ""
    match = _MADE_WITH.search(own)
    if match is not None and "torch" not in own and _FOR_A_GPU.search(own) is None:
        return None  # `pt` is a language, too
    if match is None or (not tagged and match["release"]):
        found = _OF_THE_TAG.search(own)
        # Intel's extension counts its own patches.
        release = found["release"] if found is not None else ""
        release = release if "intel" not in own else ".".join(release.split(".")[:2])
    elif match["first"]:
        rest = match["rest"]
        release = f"{match['first']}.{rest if len(rest) == 1 or 10 <= int(rest) <= 13 else '.'.join(rest)}"
    else:
        release = match["release"] or f"{match['major']}.{match['minor']}"
    return release if _IS_OF_TORCH.match(release) else None


def old_system(image: ImageLine) -> str | None:
    """The system in an image's tag and its C library, "ubuntu18.04, has glibc 2.27", where that is older than 2.28."""
    system = _system_of(image.name)
    old = system is not None and tuple(map(int, system.glibc.split("."))) < (2, 28)
    return f"{system.name}, has glibc {system.glibc}" if system is not None and old else None


def place_of_system(view: TextView, image: ImageLine) -> Span:
    """Where a file says which system an image has: in its name, or in the value of a variable."""
    return image.span if _system_of(view.source.slice(image.span)) is not None else image.told or image.span


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
            image = filled_image(view, match["image"], span, stage) or image_named(match["image"], span, stage)
            if image is not None:
                yield image


def spans_on(view: TextView, image: ImageLine) -> list[Span]:
    """What runs in an image: the stages of a container file that are built on it, or what it is the image of in YAML."""
    if image.stage < 0 or view.kind not in {"dockerfile", "yaml"}:
        return []
    if view.kind == "dockerfile":
        return stage_spans(view, image)
    from torchlift.dependencies.yaml_blocks import runs_in  # few runs see an image

    return [runs_in(view, image.span)]


def old_systems(view: TextView, places: Sequence[Span]) -> list[str]:
    """The old systems of the images that one of some places stands in, or above all of which it stands."""
    above = stages(view)[:1]
    return [
        system
        for image in read_images(view)
        if (system := old_system(image)) is not None
        and any(
            span.contains(place) or place.end <= min(above, default=0)
            for span in spans_on(view, image)
            for place in places
        )
    ]


def _tagged(view: TextView) -> Iterator[ImageLine]:
    """Images of Helm's values and of kustomize: a `tag` or `newTag` beside its `repository`, `newName` or `name`."""
    keys = [match for line in view.lines if (match := _TAGGED.match(line.text)) is not None]
    starts = [line.start for line in view.lines if _TAGGED.match(line.text) is not None]
    for at, key in enumerate(keys):
        if key["key"] not in {"tag", "newTag"} or not key["value"]:
            continue
        column, beside = key.start("key"), {key["key"]: key["value"]}
        for step in (-1, 1):
            place = at
            while not (step < 0 and keys[place]["dash"]):
                place += step
                if (
                    not 0 <= place < len(keys)
                    or keys[place].start("key") < column
                    or (step > 0 and keys[place]["dash"])
                ):
                    break
                if keys[place].start("key") == column:
                    beside.setdefault(keys[place]["key"], keys[place]["value"])
        names = ("repository",) if key["key"] == "tag" else ("newName", "name")
        name = next((beside[name] for name in names if beside.get(name)), "")
        start = starts[at] + key.start("value")
        image = image_named(f"{name}:{key['value']}", Span(start, start + len(key["value"])), -1)
        if image is not None:
            yield image


def filled_image(view: TextView, name: str, span: Span, stage: int = -1) -> ImageLine | None:
    """The image whose name or tag has values of variables of the file, if it is one of PyTorch the one whose whole tag is one; else the
    variable has a version to exchange."""
    if view.kind not in {"dockerfile", "shell"} or _FILLED.search(name) is None:
        return None
    from torchlift.dependencies.assignments import Assignment, assignments  # few names have variables in them

    # A FROM sees what ARG says above all of them
    first = stages(view)[0] if view.kind == "dockerfile" else span.start
    above = {item.name: item for item in reversed(assignments(view)) if item.span.start < first}
    given: dict[str, Assignment] = {}
    filled = name
    for _ in range(_MOST_STEPS):
        used = {match["name"] for match in _FILLED.finditer(filled)}
        if not used <= above.keys():
            return None
        given |= {one: above[one] for one in used}
        filled = _FILLED.sub(lambda match: above[match["name"]].value, filled)
    image = image_named(filled, span, stage) if "$" not in filled else None
    if image is not None and image.torch is not None and image.torch in name:
        return image  # only other parts of it are variables
    whole = image is not None and image.kind == "torch" and _WHOLE_TAG.search(name) is not None
    if image is None or (image.kind == "torch" and not whole):
        return None
    system = _system_of(image.name) if image.kind == "system" else None
    digits = image.release or image.python or ".".join(map(str, image.cuda or ()))
    digits = system.name.lstrip("abcdefghijklmnopqrstuvwxyz") if system is not None else digits
    told = next((item for item in given.values() if digits in item.value or (system and _system_of(item.value))), None)
    return replace(image, told=told.span) if told is not None else None


def _pair(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)
