"""Pins of NVIDIA's libraries beside a torch that brings others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.finding import Finding, Fix, ReplaceText, Safety, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.dependencies.installed.reading import INSTALLING, SETUP, sets_of, setup_of, severity_in, torch_of
from torchlift.rules.dependencies.wheels.builds import allowed, allows, default_build, target_line
from torchlift.rules.dependencies.wheels.companions import nvidia_pins
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings, TextContext
from torchlift.view import Use
from torchlift.view.text import TextView
from torchlift.wheels.offers import cuda_of, line_of

RULE = Rule(
    code="TL304",
    name="nvidia-library-pins",
    summary="NVIDIA libraries are pinned for another CUDA, or to other versions, than torch brings",
    why=(
        "torch's default wheels require NVIDIA's libraries for CUDA 12 up to torch 2.10 and for CUDA 13 since 2.11. The "
        "packages of both families put files of the same names into the same folders: `nvidia-nccl-cu12` and "
        "`nvidia-nccl-cu13` are one `libnccl.so.2`. pip finds no fault, and `import torch` ends in `undefined symbol`. "
        "Within a family torch requires exact versions, and any other one cannot be installed beside it."
    ),
    fix=(
        "Needs review: beside an exact torch the version is set to the one that torch requires. A library of the wrong "
        "family is only reported; its line is best removed."
    ),
    targets=SETUP,
    triggers=("install_requires & -cu1",),
    text_triggers=("nvidia & -cu1",),
    text_kinds=INSTALLING,
    sources=(
        "METADATA of the Linux x86_64 wheels of torch on PyPI, 2026-11-21",
        "https://github.com/pytorch/pytorch/issues/186591",
    ),
)

# What torch itself requires; a library beyond these may be there for somebody else.
_LIBRARY = lazy_pattern(
    r"nvidia-(?:cublas|cuda-cupti|cuda-nvrtc|cuda-runtime|cudnn|cufft|cufile|curand|cusolver|cusparse|cusparselt|nccl|"
    r"nvjitlink|nvshmem|nvtx)-cu(?P<major>\d{2})\Z"
)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    for item in sets_of(view):
        if item.no_deps or item.conda:
            continue
        for finding in _in_set(view.path, item, context.settings):
            fix = finding.fix if view.kind != "markdown" else None
            yield replace(finding, severity=severity_in(view, finding.severity), fix=fix)


def check(use: Use, context: Context) -> Iterable[Finding]:
    read = setup_of(use, context)
    if read is not None:
        yield from _in_set(context.view.path, read, context.settings)


def _in_set(path: str, item: PinSet, settings: Settings) -> Iterator[Finding]:
    for group in item.groups.values():
        torch = torch_of(group)
        libraries = [(pin, match) for pin in group if (match := _LIBRARY.match(pin.name)) and not pin.conditional]
        if torch is None or torch.specifier is None or torch.conditional or not libraries:
            continue
        release, build, sure = _installed(torch, item, settings)
        if release is None or build is None:
            continue
        cuda = cuda_of(build)
        if cuda is None:
            continue
        foreign = [pin for pin, match in libraries if int(match["major"]) != cuda[0]]
        if foreign:
            yield _family(path, foreign, release, cuda[0], sure=sure)
        elif torch.exact and default_build(line_of(release)) == build:
            yield from _versions(path, [pin for pin, _ in libraries], release)


def _installed(torch: Pin, item: PinSet, settings: Settings) -> tuple[str | None, str | None, bool]:
    """The torch that is installed, its build, and whether another one is impossible."""
    found = allowed(torch.specifier)
    exact = torch.exact
    indexes = {index.build for index in item.indexes if not index.channel}
    if exact is not None:
        release = exact.public if exact.public in found else next(iter(found), None)
    else:
        # An installer takes the newest; what comes after the target is not looked at.
        target = target_line(settings.target)
        release = next((version for version in reversed(found) if line_of(version) <= target), None)
    if release is None or len(indexes) > 1 or item.variables:
        return None, None, False
    build = (exact.build if exact else None) or next(iter(indexes), None) or default_build(line_of(release))
    lowest = default_build(line_of(found[0])) if found else None
    same = cuda_of(lowest or "") or (0, 0)
    sure = exact is not None or (same[0] == (cuda_of(build or "") or (1, 0))[0])
    return release, build, sure


def _family(path: str, foreign: list[Pin], release: str, major: int, *, sure: bool) -> Finding:
    names = ", ".join(pin.name for pin in foreign[:3]) + (", ..." if len(foreign) > 3 else "")
    verb = "brings" if sure else "would bring"
    message = (
        f"torch {release} {verb} NVIDIA's libraries for CUDA {major}, and {names} here "
        f"{'is' if len(foreign) == 1 else 'are'} for another: both families are installed into the same folders and "
        "overwrite each other."
    )
    help = (
        f"Remove {'this line' if len(foreign) == 1 else f'these {len(foreign)} lines'}: torch requires the libraries that it "
        "needs. In an environment that has both already, uninstall both families and install torch again."
    )
    return Finding("TL304", path, foreign[0].span, message, Severity.ERROR if sure else Severity.WARNING, help)


def _versions(path: str, libraries: list[Pin], release: str) -> Iterator[Finding]:
    required = nvidia_pins(release)
    for pin in libraries:
        wanted = required.get(pin.name)
        if wanted is None or not wanted.startswith("==") or not pin.clauses or pin.specifier is None:
            continue
        version = wanted[2:]
        if allows(pin.specifier, version):
            continue
        message = f"torch {release} requires {pin.name}{wanted}, so this {pin.name} {pin.specifier} cannot be installed with it."
        fix = None
        if pin.exact and not pin.hashed and not pin.opaque:
            fix = Fix(f"Ask for {version}", Safety.UNSAFE, (ReplaceText(pin.exact.span, version),))
        help = f"Needs review: a newer library put in place of torch's on purpose is installed afterwards with --no-deps. Else ask for {version}, or leave it out."
        yield Finding("TL304", path, pin.span, message, Severity.ERROR, help, fix)


EXAMPLES = (
    Bad(
        "torch==2.15.0\nnvidia-cublas-cu12==12.8.4.1\nnvidia-cudnn-cu12==9.10.2.21\nnvidia-nccl-cu12==2.27.5\n",
        why="the libraries of the torch before",
        path="requirements.txt",
    ),
    Bad(
        '[project]\nname = "a"\ndependencies = ["torch>=2.11", "nvidia-nccl-cu12"]\n',
        why="a library beside a range that has CUDA 13 only",
        path="pyproject.toml",
    ),
    Bad(
        "torch==2.5.1\nnvidia-cudnn-cu12==9.5.1.17\n",
        "torch==2.5.1\nnvidia-cudnn-cu12==9.1.0.70\n",
        "unsafe",
        why="a version that torch does not allow",
        path="requirements.txt",
    ),
    Bad(
        "pip install torch==2.14.1 nvidia-cudnn-cu12 --index-url https://download.pytorch.org/whl/cu130\n",
        why="one command with a CUDA 13 index",
        path="install.sh",
    ),
    Ok(
        "torch==2.5.1\nnvidia-cudnn-cu12==9.1.0.70\nnvidia-nccl-cu12==2.21.5\n",
        "what torch asks for",
        "requirements.txt",
    ),
    Ok(
        "torch==2.15.0\nnvidia-ml-py==12.535.77\nnvidia-dali-cuda120\n",
        "other packages of NVIDIA",
        "requirements.txt",
    ),
    Ok(
        "torch==2.14.1+cu126\nnvidia-cudnn-cu12\n--extra-index-url https://download.pytorch.org/whl/cu126\n",
        "a build for CUDA 12",
        "requirements.txt",
    ),
    Ok("nvidia-cudnn-cu12==9.8.0.87\ntensorrt\n", "no torch in the list", "requirements.txt"),
    Ok("pip install --no-deps torch==2.15.0 nvidia-cudnn-cu12==9.8.0.87\n", "dependencies left out", "a.sh"),
)
