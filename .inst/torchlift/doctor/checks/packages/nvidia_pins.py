"""NVIDIA's libraries are the versions that torch was built with."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from torchlift.doctor.check import Check, Evidence, Remedy, Result, Status, note, ok, problem
from torchlift.doctor.derived.requirements_met import Requires, requirements_of
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install

CHECK = Check(
    id="nvidia-pins",
    group="packages",
    title="NVIDIA's libraries are the versions that torch requires",
    why=(
        "Another package can pull in its own cuDNN, NCCL or cuBLAS. An older NCCL stops the import with `undefined symbol: "
        "ncclCommResume`, an older cuDNN the first convolution with `cuDNN version incompatibility: PyTorch was compiled "
        "against ... but found runtime version ...`; newer ones mostly work and were not tested together."
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/186591",
        "torch/backends/cudnn/__init__.py of torch 2.13.0 (version check)",
    ),
)

_STRICT = ("nvidia-nccl", "nvidia-cudnn")
"""An older one than torch was built with stops torch: cuDNN by its own check (torch/backends/cudnn/__init__.py), NCCL
by symbols that it lacks (pytorch#186591)."""


def look(facts: Facts) -> Iterator[Result]:
    torch = facts.package("torch")
    if torch is None or facts.torch is None or facts.torch.cuda is None:
        return
    pins = [pin for pin in requirements_of(facts, torch, deep=True) if _is_nvidia(pin.name)]
    if not pins:
        return
    missing = [pin for pin in pins if pin.installed is None and not _optional(pin)]
    wrong = [pin for pin in pins if pin.met is False]
    broken = [pin for pin in wrong if _breaks(pin)]
    # A torch that finds its libraries elsewhere needs no packages: only what the loader misses counts.
    lost = {name for library in facts.libraries if library.package == "torch" for name in library.missing_needed}
    if not wrong and not missing:
        yield ok(f"All {len(pins)} NVIDIA libraries are the versions that torch {torch.version} requires")
        return
    evidence = tuple(
        Evidence(
            pin.name,
            pin.installed.version if pin.installed else "not installed",
            needed=pin.wanted,
            source=pin.by.metadata_path,
        )
        for pin in [*wrong, *missing]
    )
    fix = Remedy(
        "Install the versions that torch requires",
        install(facts, *(pin.as_requirement() for pin in [*wrong, *missing])),
    )
    if broken or (missing and lost):
        absent = missing if lost else []
        parts = [("with", broken), ("without", absent)]
        told = " and ".join(f"{word} {', '.join(map(_told, pins))}" for word, pins in parts if pins)
        yield problem(f"torch {torch.version} cannot work {told}", evidence=evidence, remedy=fix)
    elif wrong:
        names = ", ".join(_told(pin) for pin in wrong)
        # Newer ones are often put there on purpose.
        status: Status = "note" if all(_newer(pin) for pin in wrong) else "warning"
        yield Result(
            status, f"torch {torch.version} was built with other versions than {names}", evidence=evidence, remedy=fix
        )
    else:
        yield note(
            f"{len(missing)} NVIDIA packages that torch {torch.version} requires are not installed; their libraries must "
            "be elsewhere",
            evidence=evidence,
            remedy=fix,
        )


def _newer(pin: Requires) -> bool:
    wanted = _wanted(pin)
    return pin.installed is not None and bool(wanted) and Version(pin.installed.version) > max(wanted)


def _wanted(pin: Requires) -> list[Version]:
    try:
        return [Version(part.version) for part in SpecifierSet(pin.wanted) if part.operator in ("==", "<=", "~=")]
    except (InvalidSpecifier, InvalidVersion):
        return []


def _told(pin: Requires) -> str:
    return f"{pin.name} {pin.installed.version}" if pin.installed else pin.name


def _is_nvidia(name: str) -> bool:
    return name.startswith("nvidia-") or name in ("cuda-toolkit",)


def _optional(pin: Requires) -> bool:
    return pin.name == "cuda-toolkit"


def _breaks(pin: Requires) -> bool:
    if pin.installed is None or not pin.name.startswith(_STRICT):
        return False
    try:
        wanted = [Version(part.version) for part in SpecifierSet(pin.wanted) if part.operator == "=="]
        installed = Version(pin.installed.version)
    except (InvalidSpecifier, InvalidVersion):
        return False
    return any(installed.release[:2] < version.release[:2] for version in wanted)
