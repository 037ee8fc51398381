"""Moving requirements that are installed together to one wheel: every place that has to change, or why it cannot."""

from __future__ import annotations

import re
from dataclasses import replace

from torchlift.dependencies.images import read_images
from torchlift.dependencies.pin import Clause, Pin
from torchlift.dependencies.pin_set import Index, PinSet
from torchlift.finding import Fix, ReplaceText, Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.dependencies.builds import (
    allowed,
    allows,
    lines_of,
    minors_in,
    pythons_of,
    spelled,
    target_line,
)
from torchlift.rules.dependencies.companions import companion_of
from torchlift.rules.dependencies.hardware import Wheel, wheel_for
from torchlift.rules.dependencies.reading import FAMILY, sets_of
from torchlift.rules.dependencies.succession import successor, wheel_after
from torchlift.rules.rule import Settings
from torchlift.source import Span
from torchlift.versions import TorchVersion
from torchlift.view.text import TextView
from torchlift.wheels.offers import cuda_of, index_of, line_of

# Their wheels are built for one release of torch, or for one release and one CUDA.
_BUILT_FOR_ONE_TORCH = frozenset({
    "apex", "auto-gptq", "causal-conv1d", "dgl", "fbgemm-gpu", "flash-attn", "flashinfer-python", "k2", "mamba-ssm", "mmcv",
    "mmcv-full", "natten", "pyg-lib", "pytorch3d", "sglang", "torch-cluster", "torch-scatter", "torch-sparse",
    "torch-spline-conv", "torch-tensorrt", "torchcomms", "torchdata", "torchrec", "torchtext", "vllm", "xformers",
})  # fmt: skip
_PYTORCH = "download.pytorch.org"
_CUDA_LOCAL = re.compile(r"(?:pt\d*)?cu\d{2,3}")


class _Obstacle(Exception):
    """Why the set is not moved: a sentence."""


@dataclass(frozen=True)
class Move:
    """The fix of a set, if there is one, and what to tell beside it."""

    fix: Fix | None
    help: str


def move(view: TextView, item: PinSet, settings: Settings) -> Move:
    """Move a set to the wheel for the user's GPUs, else to the one that certainly takes the place of its own."""
    if settings.machine is not None:
        wheel = wheel_for(settings.machine, target_line(settings.target))
    else:
        wheel = wheel_after(item, settings, view.path)
    return Move(None, wheel) if isinstance(wheel, str) else _moved(view, item, wheel, settings)


def repair(view: TextView, item: PinSet, settings: Settings) -> Move | None:
    """Give a set that cannot be installed the index that its torch has; None where that depends on the GPUs."""
    torch = item.named("torch")
    exact = torch[0].exact if len(torch) == 1 else None
    builds = {index.build for index in item.indexes} | ({exact.build} if exact and exact.build else set())
    if exact is None or len(builds) != 1 or exact.public not in allowed(None):
        return None
    build = builds.pop()
    after = successor(build, None, line_of(exact.public))
    if after is None:
        return None
    # Without a local version pip finds the release on PyPI, whatever a further index lacks
    alone = exact.build is not None or any(source.alone for source in item.sources)
    doubt = "" if alone else f"pip takes torch {exact.public} from PyPI as it is, since {build} has none."
    why = f"the wheels of this CUDA that torch {exact.public} has run on all GPUs in question"
    moved = _moved(view, item, Wheel(exact.public, after, why, doubt), settings)
    # What can be installed then may still be older than the target
    return replace(moved, fix=replace(moved.fix, still_reported=True)) if moved.fix else moved


def _moved(view: TextView, item: PinSet, wheel: Wheel, settings: Settings) -> Move:
    named, told = wheel.named, wheel.told
    try:
        rewrites = _rewrites(view, item, wheel)
    except _Obstacle as obstacle:
        return Move(None, f"{told} {obstacle}")
    doubt = wheel.doubt or _doubt(view, item, wheel, settings)
    if view.kind == "toml":
        told += " The lock file has to be made anew."
    if doubt:
        told += f" Needs review: {doubt}"
    return Move(Fix(f"Take {named}", Safety.UNSAFE if doubt else Safety.SAFE, rewrites), told)


def _doubt(view: TextView, item: PinSet, wheel: Wheel, settings: Settings) -> str:
    torch = item.named("torch")
    family = [pin for pin in item.pins if pin.name in FAMILY]
    stays = [pin.exact.public for pin in torch if pin.exact] == [wheel.version]
    if TorchVersion(*wheel.line) < settings.min_torch._replace(patch=0) and not stays:
        line = f"{wheel.line[0]}.{wheel.line[1]}"
        return f"the code is migrated for torch {settings.min_torch} and newer; pass --min-torch {line} to keep it fit for these GPUs."
    if item.includes and not (item.indexes and torch):
        return f"torch or its index is named in another file ({', '.join(include.path for include in item.includes)}), which has to change too."
    named = item.indexes or any(_PYTORCH in source.text for source in item.sources)
    if torch and not named and not wheel.default and view.kind != "toml":
        return "the index that this wheel comes from is named elsewhere and has to change too."
    if family and not torch:
        return "torch itself is named elsewhere and has to change too."
    if view.kind in {"yaml", "ini", "makefile"} and any(pin.exact for pin in family):
        return "a job that tests an older torch on purpose has to stay as it is."
    if any(pin.conditional for pin in family):
        return "the conditions beside the versions are taken to hold for the new ones too."
    if any(_raised(pin, wheel.version) for pin in torch):
        return "the upper bound is taken to be caution, and not to know of a break."
    newest = max(lines_of(wheel.build), default=wheel.line)
    if item.indexes and not any(pin.clauses for pin in torch) and newest > target_line(settings.target):
        return f"without a version this index gives torch {spelled(newest)}, which is newer than what the project moves to."
    return _bound_elsewhere(view, item, torch)


def _bound_elsewhere(view: TextView, item: PinSet, torch: list[Pin]) -> str:
    """What else in a file, or its name, is made for the torch or the CUDA that goes."""
    builds = {index.build for index in item.indexes} | {clause.build for pin in torch for clause in pin.clauses}
    words = [re.escape(build) for build in builds if build]
    exact = next((pin.exact.public for pin in torch if pin.exact), None)
    if exact is not None:
        line = ".".join(exact.split(".")[:2])
        words += [rf"(?:torch|pt)[-_]?{re.escape(line)}(?!\d)", rf"(?:torch|pt)[-_]?{line.replace('.', '')}(?!\d)"]
    if not words:
        return ""
    pattern = re.compile("|".join(words))
    if pattern.search(view.path):
        return "the name of the file says which torch it is for."
    own = [other.span for other in sets_of(view)]
    for match in pattern.finditer(view.code):
        if not any(span.contains(Span(*match.span())) for span in own):
            number, _ = view.source.location(match.start())
            return f"line {number} is made for the old torch too ({match[0]})."
    others = [pin.name for other in sets_of(view) for pin in other.pins if _is_bound(pin)]
    return f"{others[0]} in this file is bound to one torch or CUDA." if others else ""


def _rewrites(view: TextView, item: PinSet, wheel: Wheel) -> tuple[ReplaceText, ...]:
    _check(view, item, wheel)
    found = [rewrite for pin in item.pins for rewrite in _pin(pin, wheel)]
    for index in item.indexes if wheel.build else ():
        found.append(ReplaceText(index.place, wheel.build))
    builds = {index.build for index in item.indexes}
    found += [ReplaceText(place, wheel.build) for build, place in item.names if build in builds]
    changed = tuple(rewrite for rewrite in dict.fromkeys(found) if view.source.slice(rewrite.span) != rewrite.text)
    if not changed:
        raise _Obstacle("No single place says so; change it by hand.")
    return changed


def _check(view: TextView, item: PinSet, wheel: Wheel) -> None:
    if view.kind == "markdown":
        raise _Obstacle("A README is not rewritten.")
    if item.variables:
        raise _Obstacle("Parts of it are filled in when it runs, so nothing is rewritten.")
    if len({index.build for index in item.indexes}) > 1:
        raise _Obstacle("It names several CUDA indexes, one for each kind of machine, so nothing is rewritten.")
    for index in item.indexes:
        _check_index(index, wheel)
    _check_image(view, wheel)
    _check_python(view, item, wheel)
    if item.other_sources:
        other = view.source.slice(item.other_sources[0])
        raise _Obstacle(f"{other} is bound to this torch or CUDA too, so nothing is rewritten.")
    for name in FAMILY:
        pins = item.named(name)
        if len({(pin.specifier, pin.text.partition(";")[0].strip()) for pin in pins}) > 1:
            raise _Obstacle(f"{name} is named more than once, so nothing is rewritten.")
        if (item.indexes or wheel.for_gpus) and any(pin.conditional for pin in pins):
            raise _Obstacle(f"{name} is wanted under a condition, so nothing is rewritten.")
        if any(pin.hashed for pin in pins):
            raise _Obstacle("The hashes beside it belong to the old files, so nothing is rewritten.")
        if any(pin.opaque for pin in pins):
            raise _Obstacle(f"The requirement of {name} is not a plain version, so nothing is rewritten.")
    for pin in item.pins:
        if pin.name in FAMILY:
            continue
        if _is_bound(pin):
            raise _Obstacle(f"{pin.name} beside it is bound to one torch or CUDA, so nothing is rewritten.")


def _check_image(view: TextView, wheel: Wheel) -> None:
    """The images in a file have to fit the wheel, or the fix only trades one problem for another."""
    cuda = cuda_of(wheel.build)
    for image in read_images(view):
        if image.kind == "torch":
            raise _Obstacle(f"The image {image.name} holds a torch of its own; take another one first.")
        if image.python and int(image.python.partition(".")[2]) not in pythons_of(wheel.version):
            raise _Obstacle(f"The image {image.name} has a Python without a wheel of it; take another one first.")
        if image.compiler and image.cuda and cuda and image.cuda[0] != cuda[0]:
            raise _Obstacle(f"The image {image.name} has the compiler of another CUDA; take another one first.")


def _check_python(view: TextView, item: PinSet, wheel: Wheel) -> None:
    lowest = min(pythons_of(wheel.version), default=0)
    if not any(pin.clauses and pin.specifier and "==" in pin.specifier for pin in item.named("torch")):
        return
    for python in (python for other in (item, *sets_of(view)) for python in (*other.python, *other.named("python"))):
        wanted = minors_in(python.specifier) if python.clauses else []
        if wanted and wanted[0] < lowest:
            raise _Obstacle(
                f"It needs Python 3.{lowest}, and `{python.text}` here allows older ones; raise that first."
            )


def _is_bound(pin: Pin) -> bool:
    """Whether a package outside of the family is made for one torch or one CUDA."""
    if pin.name in FAMILY:
        return False
    local = any(clause.build and _CUDA_LOCAL.match(clause.build) for clause in pin.clauses)
    pinned = pin.name in _BUILT_FOR_ONE_TORCH and bool(pin.clauses)
    return local or pinned or re.fullmatch(r"nvidia-.*-cu\d+", pin.name) is not None


def _check_index(index: Index, wheel: Wheel) -> None:
    if index.file:
        raise _Obstacle("The address is that of one file, so nothing is rewritten.")
    if index.channel:
        raise _Obstacle(f"The index is that of {index.channel} builds, so nothing is rewritten.")
    if index.find_links:
        raise _Obstacle(f"It is a page of links; write `--index-url {index_of(wheel.build)}` instead.")


def _pin(pin: Pin, wheel: Wheel) -> list[ReplaceText]:
    if pin.name == "torchaudio" and wheel.line > (2, 11):
        raise _Obstacle("torchaudio ends with 2.11 and refuses a torch for another CUDA than its own; do without it.")
    if pin.name not in FAMILY or not pin.clauses:
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
        cpu = clause.build == "cpu" == wheel.build
        local = f"+{wheel.build}" if clause.build and (pin.name == "torch" or cpu) else ""
        if clause.build and not cpu and not _CUDA_LOCAL.match(clause.build):
            raise _Obstacle(f"It asks for the build {clause.build}, so nothing is rewritten.")
        return [ReplaceText(clause.span, version + local)]
    if any(clause.build for clause in pin.clauses):
        raise _Obstacle(f"The bounds of {pin.name} name a build, so nothing is rewritten.")
    raised = _raised(pin, version)
    if raised is None:
        raise _Obstacle(f"The bounds of {pin.name} leave out {version}, so nothing is rewritten.")
    return raised


def _raised(pin: Pin, version: str) -> list[ReplaceText] | None:
    """What lets the bounds of a requirement reach a version: nothing where they do, None where no edit is plain."""
    if pin.specifier is None:
        return None
    if allows(pin.specifier, version):
        return []
    clauses = [replace(clause, version=_reaching(clause, version)) for clause in pin.clauses]
    if not allows(replace(pin, alternatives=(tuple(clauses),)).specifier, version):
        return None
    pairs = zip(pin.clauses, clauses, strict=True)
    return [ReplaceText(old.span, new.version) for old, new in pairs if new.version != old.version]


def _reaching(clause: Clause, version: str) -> str:
    """The version of an upper bound that lets in another one, as exact as it is written."""
    parts = clause.public.count(".") + 1
    numbers = version.split(".")
    if clause.operator == "<" and tuple(map(int, re.findall(r"\d+", clause.public))) <= tuple(map(int, numbers)):
        above = [numbers[0], str(int(numbers[1]) + 1), *["0"] * (parts - 2)]
        return ".".join(above)
    if clause.operator == "<=" and not allows(f"<={clause.public}", version):
        return version if parts > 2 or numbers[2:] != ["0"] else ".".join(numbers[:2])
    if clause.operator in {"~=", "~", "^"} and parts > 1:
        return ".".join(numbers[:parts])
    return clause.version
