"""Triton is the version that torch requires."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.derived.requirements_met import Requires, requirements_of
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.derived.torch_origin import torch_origin
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, nightly_index, release_index

CHECK = Check(
    id="triton-pin",
    group="packages",
    title="Triton is the version that torch requires",
    why=(
        "Inductor writes code for one Triton: with another, torch.compile fails with `ImportError: cannot import name` or "
        "`PTXASError`, or is refused as missing (`Cannot find a working triton installation`)."
    ),
    sources=("METADATA of the torch wheels 2.0 to 2.15 on PyPI, read 2026-11-21",),
)

_NAMES = ("triton", "pytorch-triton", "triton-rocm", "pytorch-triton-rocm", "pytorch-triton-xpu", "triton-xpu")


def look(facts: Facts) -> Iterator[Result]:
    torch = facts.package("torch")
    if torch is None:
        return
    for pin in requirements_of(facts, torch):
        if pin.name not in _NAMES:
            continue
        seen = pin.installed.version if pin.installed else "not installed"
        evidence = Evidence(pin.name, seen, needed=pin.wanted, source=torch.metadata_path)
        fix = Remedy(
            "Install the Triton that torch requires", install(facts, pin.as_requirement()) + _index(facts, pin)
        )
        if pin.installed is None:
            yield warning(
                f"{pin.name} is missing: torch.compile needs {pin.as_requirement()}", evidence=(evidence,), remedy=fix
            )
        elif pin.met is False:
            yield warning(
                f"{pin.name} {pin.installed.version} is not what torch {torch.version} requires, {pin.as_requirement()}",
                evidence=(evidence,),
                remedy=fix,
            )
        else:
            yield ok(f"{pin.name} {pin.installed.version} is what torch requires", evidence=(evidence,))


def _index(facts: Facts, pin: Requires) -> str:
    """PyPI has Triton's releases only: those of a nightly torch are beside it, as are ROCm's and XPU's."""
    build = torch_build(facts.torch).tag if facts.torch is not None else None
    if build is None:
        return ""
    if torch_origin(facts) == "nightly":
        return f" --index-url {nightly_index(build)}"
    return "" if pin.name == "triton" else f" --index-url {release_index(facts, build)}"
