"""Moving requirements that are installed together to one wheel: every place that has to change, or why it cannot."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchlift.finding import Fix, ReplaceText, Safety
from torchlift.pins.pin import Index, Pin, PinSet
from torchlift.rules.rule import Settings
from torchlift.rules.wheels.builds import allows, target_line
from torchlift.rules.wheels.companions import companion_of
from torchlift.rules.wheels.hardware import Wheel, advice, wheel_for
from torchlift.rules.wheels.reading import FAMILY
from torchlift.versions import TorchVersion
from torchlift.view.text import TextView

# Their wheels are built for one release of torch, or for one release and one CUDA.
_BUILT_FOR_ONE_TORCH = frozenset({
    "apex", "auto-gptq", "causal-conv1d", "dgl", "fbgemm-gpu", "flash-attn", "flashinfer-python", "k2", "mamba-ssm", "mmcv",
    "mmcv-full", "natten", "pyg-lib", "pytorch3d", "sglang", "torch-cluster", "torch-scatter", "torch-sparse",
    "torch-spline-conv", "torch-tensorrt", "torchcomms", "torchdata", "torchrec", "torchtext", "vllm", "xformers",
})  # fmt: skip
_CUDA_LOCAL = re.compile(r"(?:pt\d*)?cu\d{2,3}")


class _Obstacle(Exception):
    """Why the set is not moved: a sentence."""


@dataclass(frozen=True)
class Move:
    """The fix of a set, if there is one, and what to tell beside it."""

    fix: Fix | None
    help: str


def move(view: TextView, item: PinSet, settings: Settings) -> Move:
    """Move a set to the wheel for the user's GPUs."""
    if settings.machine is None:
        return Move(None, advice(settings))
    wheel = wheel_for(settings.machine, target_line(settings.target))
    if isinstance(wheel, str):
        return Move(None, wheel)
    named = f"torch {wheel.version} for {wheel.build}"
    told = f"For the GPUs named, {named}: {wheel.why}."
    try:
        rewrites = _rewrites(view, item, wheel)
    except _Obstacle as obstacle:
        return Move(None, f"{told} {obstacle}")
    doubt = _doubt(view, item, wheel, settings)
    if view.kind == "toml":
        told += " The lock file has to be made anew."
    if doubt:
        told += f" Needs review: {doubt}"
    return Move(Fix(f"Take {named}", Safety.UNSAFE if doubt else Safety.SAFE, rewrites), told)


def _doubt(view: TextView, item: PinSet, wheel: Wheel, settings: Settings) -> str:
    torch = item.named("torch")
    if TorchVersion(*wheel.line) < settings.min_torch._replace(patch=0):
        line = f"{wheel.line[0]}.{wheel.line[1]}"
        return f"the code is migrated for torch {settings.min_torch} and newer; pass --min-torch {line} to keep it fit for these GPUs."
    if item.includes and not (item.indexes and torch):
        return f"torch or its index is named in another file ({', '.join(item.includes)}), which has to change too."
    if torch and not item.indexes and view.kind != "toml":
        return "the index that this wheel comes from is named elsewhere and has to change too."
    if view.kind in {"yaml", "ini", "makefile"} and any(pin.exact for pin in torch):
        return "a job that tests an older torch on purpose has to stay as it is."
    return ""


def _rewrites(view: TextView, item: PinSet, wheel: Wheel) -> tuple[ReplaceText, ...]:
    _check(view, item)
    found = [rewrite for pin in item.pins for rewrite in _pin(pin, wheel)]
    for index in item.indexes:
        found.append(ReplaceText(index.place, wheel.build))
    builds = {index.build for index in item.indexes}
    found += [ReplaceText(place, wheel.build) for build, place in item.names if build in builds]
    changed = tuple(rewrite for rewrite in dict.fromkeys(found) if view.source.slice(rewrite.span) != rewrite.text)
    if not changed:
        raise _Obstacle("No single place says so; change it by hand.")
    return changed


def _check(view: TextView, item: PinSet) -> None:
    if view.kind == "markdown":
        raise _Obstacle("A README is not rewritten.")
    if item.variables:
        raise _Obstacle("Parts of it are filled in when it runs, so nothing is rewritten.")
    if len({index.build for index in item.indexes}) > 1:
        raise _Obstacle("It names several CUDA indexes, one for each kind of machine, so nothing is rewritten.")
    for index in item.indexes:
        _check_index(index)
    if item.other_sources:
        other = view.source.slice(item.other_sources[0])
        raise _Obstacle(f"{other} is bound to this torch or CUDA too, so nothing is rewritten.")
    for name in FAMILY:
        pins = item.named(name)
        if len(pins) > 1:
            raise _Obstacle(f"{name} is named more than once, so nothing is rewritten.")
        if any(pin.conditional for pin in pins):
            raise _Obstacle(f"{name} is wanted under a condition, so nothing is rewritten.")
        if any(pin.hashed for pin in pins):
            raise _Obstacle("The hashes beside it belong to the old files, so nothing is rewritten.")
        if any(pin.opaque for pin in pins):
            raise _Obstacle(f"The requirement of {name} is not a plain version, so nothing is rewritten.")
    for pin in item.pins:
        if pin.name in FAMILY:
            continue
        bound = pin.name in _BUILT_FOR_ONE_TORCH and bool(pin.clauses)
        local = any(clause.build and _CUDA_LOCAL.match(clause.build) for clause in pin.clauses)
        nvidia = re.fullmatch(r"nvidia-.*-cu\d+", pin.name) is not None
        if bound or local or nvidia:
            raise _Obstacle(f"{pin.name} beside it is bound to one torch or CUDA, so nothing is rewritten.")


def _check_index(index: Index) -> None:
    if index.file:
        raise _Obstacle("The address is that of one file, so nothing is rewritten.")
    if index.find_links:
        raise _Obstacle(
            f"It is a page of links; write --index-url https://download.pytorch.org/whl/... instead of {index.build}'s."
        )


def _pin(pin: Pin, wheel: Wheel) -> list[ReplaceText]:
    if pin.name not in FAMILY or not pin.clauses:
        if pin.name == "torchaudio" and wheel.line > (2, 11):
            raise _Obstacle(
                "torchaudio ends with 2.11 and refuses a torch for another CUDA than its own, so nothing is rewritten."
            )
        return []
    version = wheel.version if pin.name == "torch" else companion_of(pin.name, wheel.version)
    if version is None:
        raise _Obstacle(f"No {pin.name} is known for torch {wheel.version}, so nothing is rewritten.")
    if len(pin.clauses) == 1 and pin.clauses[0].operator in {"==", "===", "="}:
        clause = pin.clauses[0]
        if clause.version.endswith(".*"):
            parts = clause.public.count(".")
            return [ReplaceText(clause.span, ".".join([*version.split(".")[:parts], "*"]))]
        if clause.operator == "=" and clause.version.count(".") < 2:
            return [ReplaceText(clause.span, ".".join(version.split(".")[: clause.version.count(".") + 1]))]
        local = f"+{wheel.build}" if clause.build and pin.name == "torch" else ""
        if clause.build and not _CUDA_LOCAL.match(clause.build):
            raise _Obstacle(f"It asks for the build {clause.build}, so nothing is rewritten.")
        return [ReplaceText(clause.span, version + local)]
    if not allows(pin.specifier, version) or pin.specifier is None:
        raise _Obstacle(f"The bounds of {pin.name} leave out {version}, so nothing is rewritten.")
    if any(clause.build for clause in pin.clauses):
        raise _Obstacle(f"The bounds of {pin.name} name a build, so nothing is rewritten.")
    return []
