"""torchvision, torchaudio and others want the torch that is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, Status
from torchlift.doctor.facts import Facts, Package
from torchlift.doctor.package_commands import install, pinned
from torchlift.doctor.requirements_met import requirements_of, satisfies
from torchlift.doctor.torch_build import torch_build
from torchlift.doctor.wheel_remedy import is_companion, wheel_answer

_DEFAULT_BUILDS = {("torchaudio", "2.11.0"): "cu130"}
"""CUDA of PyPI's wheel where the package's version does not tell; torchaudio/version.py of the wheel for Linux x86_64,
read 2026-11-21. 2.11.0 is the last on PyPI and asks for no particular torch."""


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None:
        return
    for package in facts.packages:
        if package.name == "torch" or package.editable:
            continue
        for pin in requirements_of(facts, package):
            if pin.name == "torch":
                yield from _pinned(facts, package, pin.wanted)
        if is_companion(package.name):
            yield from _other_build(facts, package)


def _pinned(facts: Facts, package: Package, wanted: str) -> Iterator[Result]:
    assert facts.torch is not None
    fits = satisfies(facts.torch.version, wanted)
    evidence = Evidence("torch", facts.torch.version, wanted or "any", package.metadata_path)
    if fits is False:
        # Their C++ operators are bound to one torch; other packages' pins are often tighter than their code.
        status: Status = "problem" if is_companion(package.name) else "warning"
        yield Result(
            status,
            f"{package.name} {package.version} is made for torch{wanted}, and torch {facts.torch.version} is installed",
            (evidence,),
            _matching(facts, package),
            "measured",
            "https://github.com/pytorch/vision/issues/8985" if package.name == "torchvision" else None,
        )
    elif fits and is_companion(package.name):
        yield Result("ok", f"{package.name} {package.version} fits torch {facts.torch.version}", (evidence,))


def _other_build(facts: Facts, package: Package) -> Iterator[Result]:
    assert facts.torch is not None
    wanted, own = torch_build(facts.torch).tag, _build(facts, package)
    if wanted is None or own is None or own == wanted:
        return
    evidence = Evidence(f"build of {package.name}", own, wanted, package.metadata_path)
    fix = _same_index(facts, package, wanted, own)
    if own.startswith("cu") and wanted.startswith("cu"):
        # torchvision compares the CUDA major versions at import, torchaudio all of it.
        if own[:4] == wanted[:4] and (package.name == "torchvision" or len(own) == 4):
            return
        yield Result(
            "problem",
            f"{package.name} {package.version} is built for {own} and torch for {wanted}: its import fails",
            (evidence,),
            fix,
        )
    elif own == "cpu" and wanted.startswith("cu"):
        yield Result(
            "warning",
            f"{package.name} {package.version} is a CPU build beside torch {facts.torch.version}: its operators do not "
            "run on the GPU",
            (evidence,),
            fix,
        )
    else:
        yield Result(
            "problem",
            f"{package.name} {package.version} is built for {own} and torch for {wanted}: its operators do not load",
            (evidence,),
            fix,
        )


def _build(facts: Facts, package: Package) -> str | None:
    """ "cu130", "cpu", ..., or "cu13" where only the major version of CUDA shows."""
    local = package.version.partition("+")[2]
    if re.fullmatch(r"cu\d{3}|cpu|rocm[\d.]+|xpu", local, re.ASCII):
        return local
    if (facts.system.os, facts.system.machine) != ("linux", "x86_64"):
        return None
    if (package.name, package.version) in _DEFAULT_BUILDS:
        return _DEFAULT_BUILDS[package.name, package.version]
    majors = {
        found[1]
        for library in facts.libraries
        if library.package == package.name
        for name in library.needed
        if (found := re.match(r"libcudart(?:\.[0-9a-f]{8})?\.so\.(\d\d)", name, re.ASCII))
    }
    return f"cu{majors.pop()}" if len(majors) == 1 else None


def _matching(facts: Facts, package: Package) -> Remedy:
    assert facts.torch is not None
    if is_companion(package.name):
        build = torch_build(facts.torch)
        answer = wheel_answer(facts, f"torch=={build.public}+{build.tag}" if build.tag else f"torch=={build.public}")
        if answer.kind == "wheel" and answer.choice is not None:
            return Remedy(f"Install the {package.name} that belongs to this torch", answer.choice.pip)
        return Remedy(f"Install the {package.name} of this torch", install(facts, "--upgrade", package.name))
    return Remedy(
        f"Install a {package.name} for this torch, or give it an environment of its own",
        install(facts, "--upgrade", package.name),
    )


def _same_index(facts: Facts, package: Package, wanted: str, own: str) -> Remedy:
    from_index = f"--index-url https://download.pytorch.org/whl/{wanted}"
    if (package.name, package.version) in _DEFAULT_BUILDS and facts.torch is not None:
        public = facts.torch.version.partition("+")[0]
        return Remedy(
            f"There is no {package.name} for {wanted}: take torch from the {own} index as well, or do without it",
            f"{install(facts, pinned('torch', public), package.name, reinstall=True)} --index-url "
            f"https://download.pytorch.org/whl/{own}",
        )
    return Remedy(
        f"Take {package.name} from torch's index",
        f"{install(facts, package.name, reinstall=True, without_dependencies=True)} {from_index}",
    )


CHECK = Check(
    "companion-mismatch",
    "packages",
    "torchvision, torchaudio and others fit the installed torch",
    "Their C++ operators are built for one torch and one CUDA: otherwise imports stop with `operator torchvision::nms "
    "does not exist` or `Detected that PyTorch and TorchAudio were compiled with different CUDA versions`. Note that "
    "PyPI's last torchaudio, 2.11.0, is built for CUDA 13.0 and refuses PyPI's torch 2.15, which is built for 13.2.",
    look,
    (
        "https://github.com/pytorch/vision/issues/8985",
        "https://github.com/pytorch/pytorch/issues/157648",
        "torchvision/extension.py of 0.27.1 and 0.29.2; torchaudio/_extension/utils.py of 2.9.1 and 2.11.0",
        "https://github.com/pytorch/audio/pull/4212",
    ),
)
