"""torchvision, torchaudio and others want the torch that is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from torchlift.doctor.check import Check, Evidence, Remedy, Result, Status, ok, problem, warning
from torchlift.doctor.derived.requirements_met import requirements_of, satisfies
from torchlift.doctor.derived.torch_build import TorchBuild, torch_build
from torchlift.doctor.derived.torch_origin import torch_origin
from torchlift.doctor.facts import Facts, Package
from torchlift.doctor.remedies.package_commands import from_conda, install, nightly_index, pinned, release_index
from torchlift.doctor.remedies.wheel_remedy import is_companion
from torchlift.wheels.tables import table

CHECK = Check(
    id="companion-mismatch",
    group="packages",
    title="torchvision, torchaudio and others fit the installed torch",
    why=(
        "Their C++ operators are built for one torch and one CUDA: otherwise imports stop with `operator torchvision::nms "
        "does not exist` or `Detected that PyTorch and TorchAudio were compiled with different CUDA versions`. Note that "
        "PyPI's last torchaudio, 2.11.0, is built for CUDA 13.0 and refuses PyPI's torch 2.15, which is built for 13.2."
    ),
    sources=(
        "https://github.com/pytorch/vision/issues/8985",
        "https://github.com/pytorch/pytorch/issues/157648",
        "torchvision/extension.py of 0.27.1 and 0.29.2; torchaudio/_extension/utils.py of 2.9.1 and 2.11.0",
        "https://github.com/pytorch/audio/pull/4212",
    ),
)


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
    evidence = Evidence("torch", facts.torch.version, needed=wanted or "any", source=package.metadata_path)
    if fits is False:
        # Their C++ operators are bound to one torch; other packages' pins are often tighter than their code.
        status: Status = "problem" if is_companion(package.name) else "warning"
        yield Result(
            status,
            f"{package.name} {package.version} is made for torch{wanted}, and torch {facts.torch.version} is installed",
            evidence=(evidence,),
            remedy=_matching(facts, package),
            link="https://github.com/pytorch/vision/issues/8985" if package.name == "torchvision" else None,
            cause=_cause(facts) if is_companion(package.name) else None,
        )
    elif fits and is_companion(package.name):
        yield ok(f"{package.name} {package.version} fits torch {facts.torch.version}", evidence=(evidence,))


def _other_build(facts: Facts, package: Package) -> Iterator[Result]:
    assert facts.torch is not None
    wanted, own = torch_build(facts.torch).tag, _build(facts, package)
    if wanted is None or own is None or own == wanted:
        return
    evidence = Evidence(f"build of {package.name}", own, needed=wanted, source=package.metadata_path)
    fix = _same_index(facts, package, wanted)
    if own.startswith("cu") and wanted.startswith("cu"):
        # torchvision compares the CUDA major versions at import, torchaudio all of it.
        if own[:4] == wanted[:4] and (package.name == "torchvision" or len(own) == 4):
            return
        yield problem(
            f"{package.name} {package.version} is built for {own} and torch for {wanted}: its import fails",
            evidence=(evidence,),
            remedy=fix,
            cause=_cause(facts),
        )
    elif own == "cpu" and wanted.startswith("cu"):
        yield warning(
            f"{package.name} {package.version} is a CPU build beside torch {facts.torch.version}: its operators do not "
            "run on the GPU",
            evidence=(evidence,),
            remedy=fix,
        )
    else:
        yield problem(
            f"{package.name} {package.version} is built for {own} and torch for {wanted}: its operators do not load",
            evidence=(evidence,),
            remedy=fix,
            cause=_cause(facts),
        )


def _build(facts: Facts, package: Package) -> str | None:
    """ "cu130", "cpu", ..., or "cu13" where only the major version of CUDA shows."""
    local = package.version.partition("+")[2]
    if re.fullmatch(r"cu\d{3}|cpu|rocm[\d.]+|xpu", local, re.ASCII):
        return local
    if (facts.system.os, facts.system.machine) != ("linux", "x86_64"):
        return None
    if package.name == "torchaudio" and package.version == _last_torchaudio()["version"]:
        return str(_last_torchaudio()["default"])
    majors = {
        found[1]
        for library in facts.libraries
        if library.package == package.name
        for name in library.needed
        if (found := re.match(r"libcudart(?:\.[0-9a-f]{8})?\.so\.(\d\d)", name, re.ASCII))
    }
    return f"cu{majors.pop()}" if len(majors) == 1 else None


def _last_torchaudio() -> dict[str, Any]:
    """The last torchaudio, which asks for no particular torch: its version does not tell of which CUDA PyPI's wheel is."""
    row: dict[str, Any] = table("companions")["torchaudio"][-1]
    return row


def _cause(facts: Facts) -> str:
    # Where torch itself is to be replaced, its companions are replaced with it.
    return "torch-cpu-build" if facts.torch is not None and facts.torch.cuda is None else "gpu-architecture"


def _matching(facts: Facts, package: Package) -> Remedy:
    assert facts.torch is not None
    if not is_companion(package.name):
        return Remedy(
            f"Install a {package.name} for this torch, or give it an environment of its own",
            install(facts, "--upgrade", package.name),
        )
    build = torch_build(facts.torch)
    text = f"Install the {package.name} that belongs to this torch"
    row: dict[str, Any] = next((row for row in table("companions")["rows"] if row["torch"] == build.public), {})
    version = row.get(package.name)
    if from_conda(facts, package.name):
        return Remedy(text, install(facts, pinned(package.name, version) if version else package.name))
    if torch_origin(facts) == "nightly" and build.tag:
        return Remedy(
            text, f"{install(facts, '--pre', '--upgrade', package.name)} --index-url {nightly_index(build.tag)}"
        )
    if torch_origin(facts) in ("source", "nvidia", "conda"):
        return Remedy(f"{text}: build it from source against it")
    if version is None:
        return Remedy(f"Install the {package.name} of this torch", install(facts, "--upgrade", package.name))
    return Remedy(text, f"{install(facts, pinned(package.name, version))}{_index(facts, build)}")


def _index(facts: Facts, build: TorchBuild) -> str:
    """Names torch's index where the default one has another build of this release."""
    platform = "windows_amd64" if facts.system.os == "windows" else f"{facts.system.os}_{facts.system.machine}"
    rows = (row for row in table("releases")["rows"] if row["version"] == build.public and row["platform"] == platform)
    default = next((row["build"] for row in rows), None)
    if build.tag is None or build.tag == default or facts.system.os == "darwin":
        return ""
    return f" --index-url {release_index(facts, build.tag)}"


def _same_index(facts: Facts, package: Package, wanted: str) -> Remedy:
    assert facts.torch is not None
    if torch_origin(facts) in ("source", "nvidia", "conda"):
        return Remedy(f"Build {package.name} from source against this torch")
    audio = _last_torchaudio()
    last_release = tuple(map(int, audio["version"].split(".")[:2]))
    if package.name == "torchaudio" and (torch_build(facts.torch).release or (0, 0)) > last_release:
        public = facts.torch.version.partition("+")[0]
        last = audio["default"]
        if wanted in audio["builds"]:
            again = install(facts, pinned(package.name, audio["version"]), reinstall=True, without_dependencies=True)
            return Remedy(
                f"Take {package.name} from torch's index",
                f"{again} --index-url {release_index(facts, wanted)}",
            )
        return Remedy(
            f"There is no {package.name} for {wanted}: take torch from the {last} index as well, or do without it",
            f"{install(facts, pinned('torch', public), pinned(package.name, audio['version']), reinstall=True)} --index-url "
            f"{release_index(facts, last)}",
        )
    index = nightly_index(wanted) if torch_origin(facts) == "nightly" else release_index(facts, wanted)
    pre = ("--pre",) if torch_origin(facts) == "nightly" else ()
    return Remedy(
        f"Take {package.name} from torch's index",
        f"{install(facts, *pre, package.name, reinstall=True, without_dependencies=True)} --index-url {index}",
    )
