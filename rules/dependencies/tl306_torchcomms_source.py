"""`torchcomms` asked for from PyPI, whose only release refuses to be imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.dependencies.installed.reading import INSTALLING, SETUP, sets_of, setup_of, severity_in
from torchlift.rules.rule import Bad, Context, Ok, Rule, TextContext
from torchlift.view import Use
from torchlift.view.text import TextView

RULE = Rule(
    code="TL306",
    name="torchcomms-source",
    summary="`torchcomms` is asked for from PyPI, which has only a placeholder",
    why=(
        "The one torchcomms on PyPI, 0.0.1, consists of an `ImportError`. torch catches it: with "
        "`TORCH_DISTRIBUTED_USE_TORCHCOMMS=1` a group is then a plain one, without a warning. Its README installs it from "
        "download.pytorch.org only."
    ),
    fix="None: which index to name depends on the CUDA of the torch beside it, and the package may not be needed at all.",
    targets=SETUP,
    triggers=("install_requires & torchcomms",),
    text_triggers=("torchcomms",),
    text_kinds=INSTALLING,
    severity=Severity.ERROR,
    sources=(
        "https://github.com/meta-pytorch/torchcomms (README, 2026-08-21)",
        "torchcomms 0.0.1 on PyPI; torch/distributed/distributed_c10d.py of torch 2.13.0 and 2.15.0",
    ),
)

_SOURCE = lazy_pattern(r"^\s*torchcomms\s*=\s*[\[{]", re.MULTILINE)
_OTHER_INDEX = lazy_pattern(r"--(?:extra-)?index-url|--find-links|--index\b|--default-index|(?<!\S)-[if]\b")


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    for item in sets_of(view):
        found = _plain(item)
        if found is None or "download.pytorch.org" in view.source.slice(item.span):
            continue
        # Another index, or uv's own source for it, may well have it.
        if _OTHER_INDEX.search(view.source.slice(item.span)) or _SOURCE.search(view.source.text):
            continue
        yield _finding(view.path, found, severity_in(view, Severity.ERROR))


def check(use: Use, context: Context) -> Iterable[Finding]:
    read = setup_of(use, context)
    found = _plain(read) if read else None
    if found is not None:
        yield _finding(context.view.path, found, Severity.ERROR)


def _plain(item: PinSet) -> Pin | None:
    found = item.named("torchcomms")
    return found[0] if found and not found[0].opaque and not item.conda and not item.variables else None


def _finding(path: str, pin: Pin, severity: Severity) -> Finding:
    return Finding(
        "TL306",
        path,
        pin.span,
        "PyPI has only torchcomms 0.0.1, which raises an ImportError when it is imported; torch then goes on without it and "
        "says nothing.",
        severity,
        "Install it together with torch from an index of PyTorch: `pip install torch torchcomms --index-url "
        "https://download.pytorch.org/whl/cu130`. Since torch 2.15 its NCCL engine is part of torch itself, so most programs "
        "do not need the package.",
    )


EXAMPLES = (
    Bad("torch>=2.11\ntorchcomms\n", why="a requirement", path="requirements.txt"),
    Bad("RUN pip install torch torchcomms\n", why="a command", path="Dockerfile"),
    Bad(
        '[project]\nname = "a"\ndependencies = ["torch", "torchcomms>=0.0.1"]\n',
        why="a dependency of a package",
        path="pyproject.toml",
    ),
    Ok(
        "pip install --pre torch torchcomms --index-url https://download.pytorch.org/whl/nightly/cu130\n",
        "PyTorch's index",
        "a.sh",
    ),
    Ok("torchcomms @ git+https://github.com/meta-pytorch/torchcomms\n", "a repository", "requirements.txt"),
    Ok("# torchcomms pins torch, so it is not installed\npip install torch\n", "a comment", "b.sh"),
    Ok(
        '[project]\nname = "a"\ndependencies = ["torchcomms"]\n\n[tool.uv.sources]\n'
        'torchcomms = { git = "https://github.com/meta-pytorch/torchcomms" }\n',
        "a source of uv",
        "pyproject.toml",
    ),
    Ok("mypy --ignore torchcomms\n", "a word in another command", "c.sh"),
)
