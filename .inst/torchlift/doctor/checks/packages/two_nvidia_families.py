"""Packages of two CUDA generations do not own the same files."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, problem, warning
from torchlift.doctor.derived.requirements_met import requirements_of
from torchlift.doctor.facts import Facts, SharedFile
from torchlift.doctor.remedies.package_commands import install, pinned, uninstall

CHECK = Check(
    id="two-nvidia-families",
    group="packages",
    title="NVIDIA's packages do not overwrite each other",
    why=(
        "nvidia-nccl-cu12 and nvidia-nccl-cu13 (and others) install the same path, such as nvidia/nccl/lib/libnccl.so.2: the "
        "last one wins, `pip check` says nothing, and torch fails with `undefined symbol: ncclCommResume`. Uninstalling the "
        "wrong one then deletes the file for both."
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/186591",
        "https://github.com/pytorch/pytorch/issues/176829",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    shared = [file for file in facts.shared_files if len(_nvidia(file)) > 1]
    if not shared:
        if any(package.name.startswith("nvidia-") for package in facts.packages):
            yield ok("No file belongs to two of NVIDIA's packages")
        return
    wanted = _wanted(facts)
    for owners in sorted({tuple(_nvidia(file)) for file in shared}):
        files = [file for file in shared if tuple(_nvidia(file)) == owners]
        right = [owner for owner in owners if owner in wanted]
        evidence = tuple(
            Evidence(
                file.path,
                f"written by {', '.join(file.matches) or 'neither, or unknown'}",
                needed=", ".join(right) or None,
                source="RECORD",
            )
            for file in files[:4]
        )
        fix = _remedy(facts, owners, wanted)
        overwritten = [file for file in files if right and file.matches and not set(file.matches) & set(right)]
        told = f"{' and '.join(owners)} write the same {len(files)} file{'s' if len(files) > 1 else ''}"
        if overwritten:
            yield problem(f"{told}, and not torch's {right[0]} wrote last", evidence=evidence, remedy=fix)
        elif right and all(set(file.matches) & set(right) for file in files):
            yield warning(f"{told}: uninstalling the other one will delete torch's", evidence=evidence, remedy=fix)
        else:
            yield warning(
                f"{told}: which one is there is not known", evidence=evidence, remedy=fix, confidence="likely"
            )


def _nvidia(file: SharedFile) -> list[str]:
    return sorted({owner for owner in file.owners if owner.startswith("nvidia-")})


def _wanted(facts: Facts) -> dict[str, str]:
    """Packages that torch requires, with the requirement."""
    torch = facts.package("torch")
    if torch is None:
        return {}
    return {pin.name: pin.as_requirement() for pin in requirements_of(facts, torch, deep=True)}


def _remedy(facts: Facts, owners: tuple[str, ...], wanted: dict[str, str]) -> Remedy:
    right = [owner for owner in owners if owner in wanted]
    if not right:
        return Remedy(
            "Keep the one that is needed: uninstall both, then install that one again", uninstall(facts, *owners)
        )
    others = [owner for owner in owners if owner not in wanted]
    needing = sorted(
        {
            package.name
            for package in facts.packages
            if package.name != "torch" and any(pin.name in others for pin in requirements_of(facts, package))
        }
    )
    versions = [wanted[owner] if "=" in wanted[owner] else _as_installed(facts, owner) for owner in right]
    text = "Uninstall both, because removing one deletes the file of the other, then install torch's again"
    if needing:
        text += f". {', '.join(needing)} requires the other one: give it an environment of its own"
    again = install(facts, *versions, reinstall=True, without_dependencies=True)
    return Remedy(text, f"{uninstall(facts, *owners)} && {again}")


def _as_installed(facts: Facts, name: str) -> str:
    package = facts.package(name)
    return pinned(name, package.version) if package else name
