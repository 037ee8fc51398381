"""torch, torchvision, torchaudio and triton in one list of requirements that no installer can satisfy together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.finding import Finding, Fix, ReplaceText, Safety, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.dependencies.installed.own_kernels import kernels_at_stake
from torchlift.rules.dependencies.installed.reading import (
    INSTALLING,
    SETUP,
    included,
    sets_of,
    setup_of,
    severity_in,
    torch_of,
)
from torchlift.rules.dependencies.wheels.companions import COMPANIONS, can_go_together, companion_of, torch_for
from torchlift.rules.rule import Bad, Context, Ok, Rule, TextContext
from torchlift.view import Use
from torchlift.view.text import TextView

RULE = Rule(
    code="TL303",
    name="companion-version",
    summary="torch and torchvision, torchaudio or triton are pinned to releases that do not belong together",
    why=(
        "Each torchvision up to 0.28 and each torchaudio up to 2.10 requires one exact torch, and each torch one triton: "
        "their compiled parts fit nothing else (`operator torchvision::nms does not exist`). pip refuses a list with two "
        "that do not belong together; installed one after the other, the last one silently replaces torch."
    ),
    fix=(
        "Needs review: where both are exact, the companion is set to the release that belongs to torch; it may be torch "
        "that was forgotten. Ranges are only reported."
    ),
    targets=SETUP,
    triggers=("install_requires & torch",),
    text_triggers=("torchvision", "torchaudio", "triton & torch"),
    text_kinds=INSTALLING,
    sources=("METADATA of the wheels of torch, torchvision and torchaudio on PyPI, 2026-11-21",),
)

_OF_PYTORCH = lazy_pattern(r"(?:cpu|cu\d+|rocm[\d.]+|xpu)(?:\..*)?")


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    for item in sets_of(view):
        if item.no_deps:
            continue
        for finding in _in_set(view.path, item, context.project, fixable=view.kind != "markdown"):
            yield replace(finding, severity=severity_in(view, finding.severity))
        if item.includes and view.kind == "requirements":
            yield from _in_tree(view, item, context)


def _in_tree(view: TextView, item: PinSet, context: TextContext) -> Iterator[Finding]:
    """A requirement here and one in an included file."""
    others = included(view, context.project)
    torch = item.named("torch")
    for path, pin in others:
        if pin.name == "torch" and not torch:
            for own in item.pins:
                if own.name in COMPANIONS and _contradict(pin, own):
                    finding = _finding(view.path, pin, own, context.project, fixable=True)
                    yield replace(finding, message=f"{finding.message} torch is asked for in {path}.")
        elif pin.name in COMPANIONS and len(torch) == 1 and not item.named(pin.name) and _contradict(torch[0], pin):
            finding = _finding(view.path, torch[0], pin, context.project, fixable=False)
            message = f"{finding.message} {pin.name} is asked for in {path}."
            yield replace(finding, span=torch[0].span, message=message)


def _contradict(torch: Pin, other: Pin) -> bool:
    if not torch.clauses or torch.conditional or torch.specifier is None:
        return False
    if not other.clauses or other.conditional or other.specifier is None:
        return False
    if any(clause.build and not _OF_PYTORCH.fullmatch(clause.build) for clause in (*torch.clauses, *other.clauses)):
        return False  # somebody else's build may ask for another torch than that of PyTorch does
    return not can_go_together(torch.specifier, other.name, other.specifier)


def check(use: Use, context: Context) -> Iterable[Finding]:
    read = setup_of(use, context)
    if read is not None:
        yield from _in_set(context.view.path, read, context.project, fixable=True)


def _in_set(path: str, item: PinSet, project: Project, *, fixable: bool) -> Iterator[Finding]:
    for group in item.groups.values():
        torch = torch_of(group)
        if torch is None:
            continue
        for name in COMPANIONS:
            pins = [pin for pin in group if pin.name == name]
            if len(pins) == 1 and _contradict(torch, pins[0]):
                yield _finding(path, torch, pins[0], project, fixable=fixable)


def _finding(path: str, torch: Pin, other: Pin, project: Project, *, fixable: bool) -> Finding:
    exact = torch.exact
    wanted = companion_of(other.name, exact.public) if exact else None
    pinned = other.exact
    belongs = torch_for(other.name, pinned.public) if pinned else None
    message = f"torch {torch.specifier} and {other.name} {other.specifier} cannot be installed together"
    if pinned and belongs:
        message += f": {other.name} {pinned.public} belongs to torch {belongs}"
    elif wanted and exact:
        message += f": {other.name} {wanted} belongs to torch {exact.public}"
    message += "."
    help = "Raise the lower one, or leave its version out: pip then finds the one that belongs to the other."
    fix = None
    if wanted and exact:
        help = f"{other.name} {wanted} belongs to torch {exact.public}."
        if belongs:
            help += f" Or torch {belongs}, if {other.name} {pinned.public if pinned else ''} is what is meant."
        if fixable and pinned and not other.hashed and not other.opaque:
            local = (
                pinned.version[len(pinned.public) :]
                if exact.version.endswith(pinned.version[len(pinned.public) :])
                else ""
            )
            text = (
                wanted + local
                if pinned.operator != "=" or pinned.version.count(".") >= 2
                else wanted.rpartition(".")[0]
            )
            kernels = kernels_at_stake(other, wanted, project)
            compile = f", and the Triton kernels in {kernels[0]} to compile with triton {wanted}" if kernels else ""
            help = f"Needs review: torch is taken to be the one that is meant{compile}. {help}"
            fix = Fix(f"Ask for {other.name} {wanted}", Safety.UNSAFE, (ReplaceText(pinned.span, text),))
    return Finding("TL303", path, other.span, message, Severity.ERROR, help, fix)


EXAMPLES = (
    Bad(
        "torch==2.15.0\ntorchvision==0.15.2\n",
        "torch==2.15.0\ntorchvision==0.29.2\n",
        "unsafe",
        why="two exact pins",
        path="requirements.txt",
    ),
    Bad(
        'dependencies = 1\n[project]\nname = "a"\ndependencies = [\n  "torch>=2.15",\n  "torchvision<0.21",\n]\n',
        why="an upper bound that no release for this torch meets",
        path="pyproject.toml",
    ),
    Bad(
        "RUN pip install torch==2.4.0 torchvision==0.19.0 torchaudio==2.3.0\n",
        "RUN pip install torch==2.4.0 torchvision==0.19.0 torchaudio==2.4.0\n",
        "unsafe",
        why="one of three was forgotten",
        path="Dockerfile",
    ),
    Bad(
        "name: a\nchannels:\n  - conda-forge\ndependencies:\n  - pytorch=2.5.1\n  - torchvision=0.15.2\n",
        "name: a\nchannels:\n  - conda-forge\ndependencies:\n  - pytorch=2.5.1\n  - torchvision=0.20.1\n",
        "unsafe",
        why="a conda environment",
        path="environment.yml",
    ),
    Bad(
        "torch==2.15.0\ntriton==3.0.0\n",
        "torch==2.15.0\ntriton==3.9.0\n",
        "unsafe",
        why="a triton of another torch",
        path="requirements-gpu.txt",
    ),
    Bad(
        'from setuptools import setup\n\nsetup(name="a", install_requires=["torch==2.15.0", "torchvision==0.17.0"])\n',
        'from setuptools import setup\n\nsetup(name="a", install_requires=["torch==2.15.0", "torchvision==0.29.2"])\n',
        "unsafe",
        why="literals of setup.py",
        path="setup.py",
    ),
    Bad(
        "-r base.txt\ntorchvision==0.15.2\n",
        "-r base.txt\ntorchvision==0.29.2\n",
        "unsafe",
        why="torch in a file that is included",
        path="requirements.txt",
        files=(("base.txt", "torch==2.15.0\n"),),
    ),
    Ok(
        "-r base.txt\ntorchvision==0.16.0\n",
        "a companion of the torch in an included file",
        "requirements.txt",
        (("base.txt", "torch==2.1.0\n"),),
    ),
    Ok("torch==2.6.0+metax3.0\ntorchvision==0.15.1+metax3.0\n", "builds of somebody else", "requirements.txt"),
    Ok("torch==2.1.2\ntorchvision==0.16.2\ntorchaudio==2.1.2\ntriton==2.1.0\n", "a set", "requirements.txt"),
    Ok("torch>=2.1\ntorchvision>=0.15\n", "ranges with a common release", "requirements.txt"),
    Ok("torch==2.15.0\ntorchvision==0.29.1\n", "a companion that is open for later torch", "requirements.txt"),
    Ok("torch==1.13.1\ntorchvision==0.14.1\n", "releases from before the data", "requirements.txt"),
    Ok(
        'torch==2.1.0\ntorchvision==0.15.2 ; python_version < "3.9"\n',
        "a pin under a condition",
        "requirements.txt",
    ),
    Ok(
        "pip install torch==2.1.0\npip install --no-deps torchvision==0.15.2\n",
        "commands of their own",
        "install.sh",
    ),
    Ok(
        '[project]\nname = "a"\n[project.optional-dependencies]\nold = ["torch==2.0.1"]\nnew = ["torchvision==0.16.0"]\n',
        "two lists",
        "pyproject.toml",
    ),
)
