"""torch and what is bound to it come from one installer."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="conda-pip-mix",
    group="environment",
    title="torch and its companions are from one installer",
    why=(
        "conda-forge's torch and PyPI's are built with other compilers, CUDA packages and ABIs. A torchvision of the one beside "
        "a torch of the other fails with `operator torchvision::nms does not exist` or undefined symbols."
    ),
    sources=("https://github.com/pytorch/vision/issues/9174",),
)

_BOUND = ("torchvision", "torchaudio", "triton")


def look(facts: Facts) -> Iterator[Result]:
    torch = facts.package("torch")
    if torch is None or not torch.installer:
        return
    others = [package for name in _BOUND if (package := facts.package(name)) is not None and package.installer]
    mixed = [other for other in others if (other.installer == "conda") != (torch.installer == "conda")]
    if mixed:
        listed = ", ".join(f"{package.name} from {package.installer}" for package in mixed)
        yield warning(
            f"torch is from {torch.installer}, but {listed}: their builds are not made for each other",
            evidence=tuple(
                Evidence(package.name, package.installer or "", needed=torch.installer, source=package.metadata_path)
                for package in mixed
            ),
            remedy=Remedy("Install all of them with the same tool, best in a new environment"),
            link="https://github.com/pytorch/vision/issues/9174",
        )
    elif others:
        yield ok(f"torch and its companions are all from {'conda' if torch.installer == 'conda' else 'pip or uv'}")
