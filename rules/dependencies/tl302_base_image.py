"""Images whose CUDA or torch is not that of the torch that is installed in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from torchlift.dependencies.images import (
    ImageLine,
    filled_image,
    image_named,
    old_system,
    place_of_system,
    read_images,
    spans_on,
    stage_spans,
)
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.systems import newer_systems
from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.rules.dependencies.installed.reading import (
    NAMING,
    is_pytorch_channel,
    scripts_in,
    sets_of,
    stage_sets,
    torch_of,
)
from torchlift.rules.dependencies.wheels.builds import (
    FOR_GLIBC_228,
    Line,
    allowed,
    default_build,
    lines_of,
    newest_of,
    pythons_of,
    spelled,
    target_line,
)
from torchlift.rules.dependencies.wheels.images_of_torch import held_by, of_a_night, of_an_older_torch, of_ngc
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings, TextContext, nothing
from torchlift.source import Span
from torchlift.view.text import TextView
from torchlift.view.walk import walk
from torchlift.wheels.offers import cuda_of, line_of
from torchlift.wheels.tables import table

RULE = Rule(
    code="TL302",
    name="base-image",
    summary="A base image holds another CUDA, or another torch, than the torch that is installed in it, or a C library that is too old",
    why=(
        "torch's wheels bring the CUDA libraries that they need; what the image has is used by compilers. "
        "`torch.utils.cpp_extension` raises `The detected CUDA version mismatches the version that was used to compile "
        "PyTorch` where the major versions differ, and wheels of torch 2.15 are for CUDA 13 only. An image of PyTorch holds "
        "packages that were made for its own torch. NVIDIA's images of NGC hold builds of their own from between two releases "
        "(24.05 has 2.4.0a0), which pip does not replace by itself. The wheels since 2.7 are for glibc 2.28 and newer, which Ubuntu 18.04 has not."
    ),
    fix="None: which tags an image has is not in torchlift's data. The help names the CUDA to look for.",
    targets=(),
    check=nothing,
    triggers=(
        "pytorch/pytorch & -cuda",
        "nvidia/pytorch & -py3",
        *(f"{host} & pytorch-" for host in ("amazonaws.com", "pkg.dev", "gcr.io")),
    ),
    text_triggers=(
        *(f"nvidia/cuda & {word}" for word in ("torch", "requirements", "install", "uv", "env")),
        *(
            f"{word} & torch"
            for word in ("FROM", "From", "docker", "image", "IMAGE", "container", "apptainer", "newTag", "repository")
        ),
        *("pytorch/pytorch", "nvidia/pytorch & -py3", "FROM & install", "FROM & pt", "image & :pt", "docker & :pt"),
    ),
    text_kinds=NAMING,
    sources=(
        "manylinux_2_28 tags of torch 2.7 to 2.15; glibc of Ubuntu by its release notes, of CentOS by its packages, 2026-11-26",
        "`_check_cuda_version` in torch/utils/cpp_extension.py of torch 2.15.0",
        "https://hub.docker.com/r/pytorch/pytorch/tags and https://hub.docker.com/r/nvidia/cuda/tags",
        "NVIDIA's release notes of the PyTorch container and its table for Jetson; versions that the containers print, 2026-11-23",
    ),
)

_COMPILES = lazy_pattern(
    r"\bnvcc\b|TORCH_CUDA_ARCH_LIST|--no-build-isolation|\bflash[-_]attn\b|\bapex\b|\bMAX_JOBS\b|FORCE_CUDA|CUDA_HOME|"
    r"setup\.py[\"', ]+(?:install|develop|build|bdist)|--global-option|DS_BUILD_|transformer[-_]engine|pip3? install[^\n]*"
    r"(?: -e)? \.(?:\s|\[|$)"
)

_GIVEN = lazy_pattern(
    r"^[ \t]*(?:-[ \t]+)?(?:export[ \t]+)?[\"']?\w+[\"']?[ \t]*[:?]?=?[ \t]*[\"']?(?P<image>(?:[\w.-]+/)*nvidia/cuda:[\w.${}-]+)",
    re.MULTILINE,
)
# What is copied or run bears its name, and says more of it elsewhere.
_SAID = lazy_pattern(r"(?<![\w/])(?:\S*/)?(?:py)?torch[\w-]*\.(?:ya?ml|txt|sh)\b|/libtorch/cu\S*\.zip")
_OTHER_BUILDS = lazy_pattern(r"/(?:cpu|rocm|xpu)")
_TORCH_WHEEL = lazy_pattern(r"/torch-\d[^\s/]*\.whl|/libtorch/\S*\.zip|(?<![\w./-])torch==\d")
_IS_TEST = lazy_pattern(r"(?:^|/)(?:tests?/|test_[^/]*$|[^/]*_test\.py$|conftest\.py$)")
_REFERENCE = lazy_pattern(r"(?P<image>(?:docker://)?(?:[\w.-]+(?::\d+)?/)+[\w.-]+(?::[\w.-]+)?)")
_STARTED = lazy_pattern(
    r"\b(?:docker|podman|singularity|apptainer|enroot)\b[^\n]* (?:run|pull|exec|build|create|start|import|shell)\b[^\n]* (?P<image>(?:docker://)?(?:[\w.-]+[/#])+[\w.-]+:[\w.-]+)"
)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    target = target_line(context.settings.target)
    images = read_images(view)
    taken = {image.span for image in images}
    for match in _GIVEN.finditer(view.code) if view.kind != "dockerfile" and "torch" in view.code.lower() else ():
        span = Span(*match.span("image"))
        image = filled_image(view, match["image"], span) or image_named(match["image"], span)
        if image is not None and image.compiler and span not in taken and not is_shown(view, span.start):
            yield from _left_behind(view, replace(image, told=None), target, compiled=False)
    for image in images:
        if image.kind not in {"torch", "ngc"}:
            yield from _built_on(view, image, context)
            continue
        if image.stage < 0 and is_shown(view, image.span.start):
            continue
        if image.kind == "ngc":
            yield from of_ngc(view.path, image, context.settings)
        elif image.torch is None:
            yield from of_a_night(view.path, image, context.settings)
        elif line_of(image.torch) < target and image.torch not in view.path:  # which names what is made for it
            spans = stage_spans(view, image)
            sets = [
                item for item in sets_of(view) if not item.conda and any(span.contains(item.span) for span in spans)
            ]
            stage = "".join(view.code[span.start : span.end] for span in spans)
            yield from _torch_image(view, image, sets, stage, context.settings)


def _built_on(view: TextView, image: ImageLine, context: TextContext) -> Iterator[Finding]:
    """An image without torch, beside the torch that a stage or a job installs into it."""
    if image.kind != "cuda" and old_system(image) is None:
        return
    spans = spans_on(view, image)
    sets, stage = stage_sets(view, spans, context.project), "".join(view.code[span.start : span.end] for span in spans)
    stage += "".join(script.code for script in scripts_in(stage, view, context.project))
    yield from _system(view, image, sets, stage, context.settings)
    if image.kind == "cuda":
        yield from _toolkit(view, image, [item for item in sets if not item.conda], stage, context.settings)


def whole(context: Context) -> Iterator[Finding]:
    """Images that code starts: strings that are the name of one."""
    view = context.view
    if "pytorch" not in view.source.text or _IS_TEST.search(view.path):
        return  # nothing, or what a test expects
    for node in walk(view.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = _REFERENCE.fullmatch(node.value) or _STARTED.search(node.value)
            image = image_named(named["image"], view.span(node)) if named is not None else None
            if image is None or isinstance(view.parent(node), ast.Expr):
                continue
            if image.kind == "ngc":
                yield from of_ngc(view.path, image, context.settings)
            elif image.kind == "torch" and image.torch is None:
                yield from of_a_night(view.path, image, context.settings)
            elif image.torch is not None and line_of(image.torch) < target_line(context.settings.target):
                yield of_an_older_torch(view.path, image, context.settings)


def _system(view: TextView, image: ImageLine, sets: list[PinSet], stage: str, settings: Settings) -> Iterator[Finding]:
    """An image with a C library that is older than what torch's wheels are built for."""
    system, target = old_system(image), target_line(settings.target)
    if system is None or target < FOR_GLIBC_228:
        return
    own = (
        any(pin.is_torch for item in sets if not item.conda for pin in item.pins)
        or _TORCH_WHEEL.search(stage) is not None
    )
    channel = any(item.conda and any(is_pytorch_channel(name) for name, _ in item.channels) for item in sets)
    if not own and not channel:
        return
    message = (
        f"The image's system, {system}, and the wheels of torch since 2.7 ask for 2.28: pip finds no torch "
        f"{spelled(target)} in it"
        + ("." if own else ", once torch comes by pip because PyTorch's channel of conda has ended.")
    )
    fit = " and ".join(newer_systems(pythons_of(newest_of(target))))
    help = "Take an image with a newer system: Ubuntu 20.04, Debian 10, Rocky Linux 8 and UBI 8 have 2.28 or newer"
    help += f", {fit} also a `python3` that torch {spelled(target)} has wheels for." if fit else "."
    yield Finding(
        "TL302", view.path, place_of_system(view, image), message, Severity.WARNING if own else Severity.INFO, help
    )


def _toolkit(view: TextView, image: ImageLine, sets: list[PinSet], stage: str, settings: Settings) -> Iterator[Finding]:
    installed = _installed(sets, settings)
    if not image.compiler or image.cuda is None:
        return
    compiled = _COMPILES.search(stage) is not None
    if installed is None:
        # Which torch it is a variable or a condition says, so all that is known is that it will be the target.
        torch = [item for item in sets if any(pin.is_torch for pin in item.pins)]
        others = any(_OTHER_BUILDS.search(source.text) for item in torch for source in item.sources)
        if (torch and not others) or (not torch and _SAID.search(stage)):
            yield from _left_behind(view, image, target_line(settings.target), compiled=compiled)
        return
    release, build, whose = installed
    cuda = cuda_of(build)
    target = target_line(settings.target)
    if cuda is not None and cuda[0] == image.cuda[0] and (line_of(release) < target or target not in lines_of(build)):
        yield from _left_behind(view, image, target, compiled=compiled)
    if cuda is None or cuda[0] == image.cuda[0]:
        return
    yield Finding(
        "TL302",
        view.path,
        image.told or image.span,
        f"The image has the compiler of CUDA {_spelled(image.cuda)}, and {whose} torch {release} for CUDA {_spelled(cuda)}: "
        "torch refuses to compile extensions with another major version of CUDA than its own"
        + (", as this stage seems to do." if compiled else "."),
        Severity.WARNING if compiled else Severity.INFO,
        f"Take a devel image of CUDA {_spelled(cuda)}, or torch for CUDA {image.cuda[0]}"
        + (" (2.14 for cu126 is the last one)" if image.cuda[0] == 12 else "")
        + ". If nothing is compiled, an image without CUDA will do: torch brings its own libraries.",
    )


def _left_behind(view: TextView, image: ImageLine, target: Line, *, compiled: bool) -> Iterator[Finding]:
    """An image whose compiler goes with the torch of today, and with no build of the target."""
    builds = [row["build"] for row in table("indexes")["rows"] if target in lines_of(row["build"])]
    cudas = [cuda for build in builds if (cuda := cuda_of(build)) is not None]
    if image.cuda is None or not cudas or any(cuda[0] == image.cuda[0] for cuda in cudas):
        return
    message = (
        f"The image has the compiler of CUDA {_spelled(image.cuda)}, and torch {spelled(target)}, which this project moves to, is built for CUDA "
        f"{' and '.join(map(_spelled, cudas))}: torch refuses to compile extensions with another major version of CUDA"
        + (", as this stage seems to do." if compiled else ".")
    )
    yield Finding(
        "TL302",
        view.path,
        image.told or image.span,
        message,
        Severity.INFO,
        f"Take a devel image of CUDA {_spelled(cudas[0])} with the new torch"
        + ("." if compiled else ", or where nothing is compiled one without CUDA: torch brings its own libraries."),
    )


def _torch_image(
    view: TextView, image: ImageLine, sets: list[PinSet], stage: str, settings: Settings
) -> Iterator[Finding]:
    installed = _installed([item for item in sets if item.named("torch")], settings)
    held = held_by(image)
    if installed is not None and not f"{installed[0]}.".startswith(f"{image.torch}."):
        release, build, whose = installed
        cuda = cuda_of(build)
        other = bool(image.compiler and cuda and image.cuda and cuda[0] != image.cuda[0])
        message = f"{held}, and {whose} torch {release} in its place"
        message += f", for CUDA {_spelled(cuda)}, which the image's compiler is not of." if other and cuda else "."
        severity = Severity.WARNING if other and _COMPILES.search(stage) else Severity.INFO
        help = "What the image has compiled for its own torch may break. Take an image of the torch that is wanted, or one without."
        yield Finding("TL302", view.path, image.span, message, severity, help)
    else:
        yield of_an_older_torch(view.path, image, settings)


def _installed(sets: list[PinSet], settings: Settings) -> tuple[str, str, str] | None:
    """Release and build of the torch that the commands of a stage install, and how to say so."""
    found = []
    for item in sets:
        torch = torch_of(list(item.pins))
        if torch is None:
            continue
        builds = {index.build for index in item.indexes if not index.channel}
        other = any("download.pytorch.org" in source.text for source in item.sources)
        if torch.specifier is None or torch.opaque or item.variables or len(builds) > 1 or (other and not builds):
            return None
        target = target_line(settings.target)
        release = next((v for v in reversed(allowed(torch.specifier)) if line_of(v) <= target), None)
        if release is None:
            return None
        exact = torch.exact
        build = (exact.build if exact else None) or next(iter(builds), None) or default_build(line_of(release))
        if build is None:
            return None
        found.append((release, build, "the command installs" if exact or builds else "an open requirement installs"))
    return found[-1] if found else None


def _spelled(pair: tuple[int, int]) -> str:
    return f"{pair[0]}.{pair[1]}"


EXAMPLES = (
    Bad(
        "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04 AS base\nFROM ubuntu AS other\nFROM base\nRUN pip install torch==2.1.0\n",
        why="a stage that goes on from another",
        path="Dockerfile",
    ),
    Bad(
        "CUDA=11.7.1-cudnn8\nBASE=nvidia/cuda:${CUDA}-devel-ubuntu20.04\ndocker build --build-arg BASE=$BASE -t torch-ops .\n",
        why="an image that a script hands on",
        path="docker/build.sh",
    ),
    Bad(
        "FROM nvidia/cuda:11.8.0-devel-ubuntu20.04\nCOPY env/torch_gpu.yml /env/torch_gpu.yml\nRUN conda env create -f /env/torch_gpu.yml\n",
        why="a torch that a file by its name installs",
        path="ci/Dockerfile",
    ),
    Bad(
        "FROM nvidia/cuda:12.8.0-devel-ubuntu22.04\nCOPY . /app\nRUN uv sync\n",
        why="a torch that the project requires",
        path="Dockerfile",
        files=(("pyproject.toml", '[project]\nname = "a"\ndependencies = ["torch==2.15.0"]\n'),),
    ),
    Bad(
        "ARG TORCH=2.15.0\nFROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nARG TORCH\nRUN pip install torch==$TORCH\n",
        why="a compiler that the target has no build for, beside a torch that a variable fills in",
        path="filled/Dockerfile",
    ),
    Bad(
        "FROM nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04\nRUN pip install torch==2.6.0+cu124 --extra-index-url "
        "https://download.pytorch.org/whl/cu124\nRUN pip install -e .\n",
        why="a compiler that the target has no build for, where something is compiled",
        path="compiled/Dockerfile",
    ),
    Bad(
        "FROM nvidia/cuda:12.1.1-cudnn8-devel-ubuntu22.04\nRUN pip install torch==2.15.0\n"
        "RUN pip install flash-attn --no-build-isolation\n",
        why="a compiler of CUDA 12 beside a torch for CUDA 13",
        path="Dockerfile",
    ),
    Bad(
        "FROM nvidia/cuda:10.2-cudnn8-runtime-ubuntu18.04\nRUN pip install torch==1.12.1\n",
        why="a system whose C library is too old",
        path="docker/Dockerfile",
    ),
    Bad(
        "FROM nvidia/cuda:8.0-cudnn6-devel-ubuntu16.04\nRUN pip install http://download.pytorch.org/whl/cu80/torch-0.2.0.post3-cp27-cp27mu-manylinux1_x86_64.whl\n",
        why="the same below a wheel by its address",
        path="Dockerfile",
    ),
    Ok(
        "FROM nvidia/cuda:10.2-cudnn8-runtime-ubuntu18.04\nRUN pip install ctranslate2\n",
        "no torch in it",
        path="Dockerfile",
    ),
    Bad(
        "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\n"
        "RUN pip install torch --index-url https://download.pytorch.org/whl/cu126\n",
        why="another CUDA than that of the index",
        path="docker/Dockerfile.gpu",
    ),
    Bad(
        "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\nCOPY . /app\n",
        why="an image of an older torch",
        path="Dockerfile",
    ),
    Bad(
        "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-devel\nRUN pip install torch==2.15.0\nRUN pip install -e .\n",
        why="an image whose torch is replaced",
        path="Dockerfile",
    ),
    Bad(
        "FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\nCOPY requirements.txt /tmp/\nRUN pip install -r /tmp/requirements.txt\nRUN make\n",
        why="a file of requirements that is copied",
        path="docker/Dockerfile",
        files=(("requirements.txt", "numpy\ntorch==2.15.0\n"),),
    ),
    Ok(
        "FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\nCOPY requirements.txt /tmp/\nRUN pip install -r /tmp/requirements.txt\n",
        "requirements without torch",
        "Dockerfile",
        (("requirements.txt", "numpy\n"),),
    ),
    Ok(
        "FROM nvidia/cuda:13.0.1-devel-ubuntu24.04\nRUN pip install torch==2.15.0\n",
        "the same major version",
        "Dockerfile",
    ),
    Ok(
        "FROM nvidia/cuda:12.1.1-runtime-ubuntu22.04\nRUN pip install torch==2.15.0\n",
        "an image without a compiler",
        "Dockerfile",
    ),
    Ok(
        "FROM nvidia/cuda:12.1.1-devel-ubuntu22.04 AS build\nRUN make\nFROM ubuntu:24.04\nRUN pip install torch\n",
        "another stage",
        "Dockerfile",
    ),
    Bad(
        "ARG BASE=nvidia/cuda:11.1.1-base-ubuntu18.04\nFROM ${BASE}\nRUN pip install torch==1.8.1\n",
        why="an image that a variable names",
        path="named/Dockerfile",
    ),
    Bad(
        "ARG CUDA=12.4.1\nFROM nvidia/cuda:${CUDA}-devel-ubuntu22.04\nRUN pip install torch==2.15.0\n",
        why="a tag that a variable fills in",
        path="tagged/Dockerfile",
    ),
    Ok("FROM nvidia/cuda:${CUDA}-devel\nRUN pip install torch\n", "a tag that is filled in", "Dockerfile"),
    Ok(
        "FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\nRUN pip install torch --index-url https://download.pytorch.org/whl/cpu\n",
        "a torch without CUDA",
        "Dockerfile",
    ),
    Bad(
        "FROM registry.example.com/pytorch/pytorch:v1.8.0-torch1.9-ubuntu18.04-py37\nRUN pip install librosa\n",
        why="anybody's image whose tag names a torch",
        path="DOCKERFILE",
    ),
    Bad(
        "FROM ubuntu:18.04\nCOPY install.sh /\nRUN bash /install.sh\n",
        why="an old system, into which a script of the project installs torch",
        path="Dockerfile",
        files=(("install.sh", "pip3 install torch\n"),),
    ),
    Ok("FROM my/tool:2.1.0-cuda12.1-cudnn8-devel\nRUN pip install torch\n", "somebody else's image", "Dockerfile"),
    Bad(
        "FROM pytorch/pytorch:nightly-devel-cuda10.0-cudnn7\nRUN pip install librosa\n",
        why="an image of a night long ago",
        path="Dockerfile",
    ),
    Bad("FROM nvcr.io/nvidia/pytorch:24.05-py3\n", why="an image of NGC", path="Dockerfile"),
    Bad(
        "docker run --gpus all -it pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime bash\n",
        why="an image that a script runs",
        path="run.sh",
    ),
    Bad(
        'import torch\n\nIMAGE = "nvcr.io/nvidia/pytorch:24.10-py3"\n',
        why="an image that code starts",
        path="launch.py",
    ),
    Ok("FROM pytorch/pytorch:nightly-devel-cuda13.2-cudnn9\n", "an image of last night, perhaps", "Dockerfile"),
    Ok("FROM nvcr.io/nvidia/pytorch:28.01-py3\n", "newer than the table", "Dockerfile"),
    Ok(
        'import torch\n\nassert image() == "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime"\n',
        "what a test expects",
        "tests/test_image.py",
    ),
    Ok("# FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-devel\nFROM ubuntu\n", "a comment", "Dockerfile"),
)
