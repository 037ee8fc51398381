"""Which wheel takes the place of the one that a list asks for, where no GPUs are named: as far as the list itself decides."""

from __future__ import annotations

from functools import cache
from typing import Literal

from torchlift.dependencies.pin_set import PinSet
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.dependencies.wheels.builds import (
    Line,
    allowed,
    default_build,
    known_line,
    lines_of,
    newest_of,
    spelled,
    target_line,
)
from torchlift.rules.dependencies.wheels.companions import COMPANIONS, belongs
from torchlift.rules.dependencies.wheels.hardware import Wheel, advice
from torchlift.rules.rule import Settings
from torchlift.wheels import drivers
from torchlift.wheels.compatibility import capability
from torchlift.wheels.offers import Offer, cuda_of, known_versions, line_of, offers

Platform = Literal["linux_x86_64", "windows_amd64"]
_CPU_INDEX = lazy_pattern(r"download\.pytorch\.org/whl/(?:\w+/)?cpu\b")
_PYTORCH = lazy_pattern(r"download\.pytorch\.org|pytorch\.s3|pypi\.nvidia|jetson")
_STABLE = lazy_pattern(r"download\.pytorch\.org/whl/(?:(?:cpu|cu\d{2,3})/)?torch_stable\.html\Z")


def is_stable_page(address: str) -> bool:
    """Whether an address is one of the pages that list the wheels of old releases, for all CUDAs or for one."""
    return _STABLE.search(address) is not None


@cache
def successor(build: str, old: Line | None, new: Line, platform: Platform = "linux_x86_64") -> str | None:
    """The build of a release line that runs wherever another one does: with the same drivers, on all of its GPUs.

    Drivers that run one wheel of a major version of CUDA run them all ("minor version compatibility"); another major
    version asks for newer ones. GPUs are those that the old wheel has code for. Of a build that PyTorch never had, or gave
    up before torch 2, they are not known: then a wheel counts that runs on all GPUs that any wheel of its CUDA runs on.

    Args:
        build: "cu118".
        old: the release line that `build` is taken of; None for its last one.
        new: the release line to move to.
        platform: the system.

    Returns:
        "cu126"; None where which one depends on the GPUs.
    """
    fit = _fit(build, old, new, platform)
    best = max(fit, key=lambda offer: (offer.build == build, offer.main, offer.cuda or (0, 0)), default=None)
    return best.build if best else None


def _fit(build: str, old: Line | None, new: Line, platform: Platform) -> list[Offer]:
    """The wheels that run wherever a build of an older line does."""
    cuda = cuda_of(build)
    candidates = [offer for offer in _offers(new, platform) if cuda and offer.cuda and offer.cuda[0] == cuda[0]]
    lines = lines_of(build)
    if lines:
        line = old if old in lines else lines[-1]
        needed = {image for offer in _offers(line, platform) if offer.build == build for image in offer.sass}
    else:
        needed = {image for offer in candidates for image in offer.sass}
    return [offer for offer in candidates if needed and _runs_all(offer, needed)]


def wheel_after(item: PinSet, settings: Settings, path: str) -> Wheel | str:
    """The wheel of the target that takes the place of what a set installs, or the sentence that says what is asked for."""
    version = release_of(settings)
    if version is None:
        return advice(settings, path)
    line = line_of(version)
    builds, texts = builds_asked(item), [source.text for source in item.sources]
    others = [text for text in texts if not (_CPU_INDEX.search(text) or (builds and is_stable_page(text)))]
    elsewhere = any(map(_PYTORCH.search, others)) and not item.indexes
    if any("/rocm" in text for text in others):
        return _for_amd(line)
    if len(builds) > 1 or elsewhere or any(index.channel for index in item.indexes):
        return advice(settings, path)
    if builds == {"cpu"}:
        return Wheel(version, "cpu", "the build without CUDA, as before")
    old = _line_asked(item)
    platform: Platform = "windows_amd64" if path.lower().endswith((".bat", ".cmd", ".ps1")) else "linux_x86_64"
    if not builds:
        return _from_pypi(version, old, platform)
    build = builds.pop()
    after = successor(build, old, line, platform)
    if after is None:
        return advice(settings, path)
    return Wheel(version, after, f"it needs no newer driver than {build}, and runs on all of its GPUs")


def _for_amd(line: Line) -> str:
    """What to write where a set installs a build for AMD's GPUs."""
    builds = [offer.build for offer in offers("linux_x86_64") if offer.line == line and offer.build.startswith("rocm")]
    if not builds:
        return f"This is a build for AMD's GPUs, and which ROCm torch {spelled(line)} is built for is not known here: https://download.pytorch.org/whl/ lists it."
    return f"This is a build for AMD's GPUs: PyTorch's index has torch {spelled(line)} for {' and '.join(builds)}, whichever the machines have."


def builds_asked(item: PinSet) -> set[str]:
    """The builds that a set takes torch from, "cpu" among them."""
    builds = {index.build for index in item.indexes}
    builds |= {clause.build for pin in item.named("torch") for clause in pin.clauses if clause.build}
    return builds | ({"cpu"} if any(_CPU_INDEX.search(source.text) for source in item.sources) else set())


def release_of(settings: Settings) -> str | None:
    """The release that the project moves to: the newest of its line, unless a patch release is named."""
    line = target_line(settings.target)
    named = f"{line[0]}.{line[1]}.{settings.target.patch}"
    return named if settings.target.patch and named in known_versions() else newest_of(line)


def _line_asked(item: PinSet) -> Line | None:
    """The newest release line that the set asks for: a companion decides it where torch's own requirement is open."""
    torch = item.named("torch")
    found = allowed(torch[0].specifier) if len(torch) == 1 and torch[0].clauses else ()
    beside = [] if torch and torch[0].exact else [pin for pin in item.pins if pin.name in COMPANIONS and pin.clauses]
    newest = next((one for one in reversed(found) if all(belongs(pin, one) for pin in beside)), None)
    return line_of(newest) if newest else None


def _from_pypi(version: str, old: Line | None, platform: Platform) -> Wheel:
    """The wheel of the default index in the place of an older one from there."""
    line = line_of(version)
    build = default_build(line) if known_line(line) else None
    if build is None or platform == "windows_amd64":
        return Wheel(version, "", "the wheel of the default index", default=True)
    before = default_build(old) if old else None
    if before and any(offer.build == build for offer in _fit(before, old, line, platform)):
        why = f"it needs no newer driver than {before} of torch {spelled(old or line)}, and runs on all of its GPUs"
        return Wheel(version, build, why, default=True)
    offer = next((offer for offer in _offers(line, platform) if offer.build == build), None)
    cuda = cuda_of(build)
    if offer is None or cuda is None:
        return Wheel(version, build, "the wheel of the default index", default=True)
    lowest = min(found for image in offer.sass if (found := capability(image.rstrip("af"))))
    floor = drivers.lowest(cuda[0], "linux")
    return Wheel(
        version,
        build,
        "the wheel of the default index",
        f"GPUs are taken to be of compute capability {spelled(lowest)} or newer, with driver {floor} or newer. `--gpus` says which they are.",
        default=True,
    )


@cache
def _offers(line: Line, platform: Platform) -> tuple[Offer, ...]:
    return tuple(offer for offer in offers(platform) if offer.line == line and offer.cuda and not offer.secondary)


def _runs_all(offer: Offer, images: set[str]) -> bool:
    found = [capability(image.rstrip("af")) for image in images]
    return all(gpu is not None and offer.runs_on(gpu) for gpu in found)
