"""The module `pynvml` is NVIDIA's."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, uninstall

CHECK = Check(
    id="pynvml-shadow",
    group="packages",
    title="The module pynvml is NVIDIA's own",
    why=(
        "Two packages install a module pynvml. With the old one torch warns `FutureWarning: The pynvml package is deprecated. "
        "Please install nvidia-ml-py instead.`"
    ),
    sources=("https://pypi.org/project/pynvml/", "https://pypi.org/project/nvidia-ml-py/"),
)


def look(facts: Facts) -> Iterator[Result]:
    package = facts.package("pynvml")
    official = facts.package("nvidia-ml-py")
    if package is not None:
        yield note(
            f"pynvml {package.version} is installed, a deprecated package beside NVIDIA's nvidia-ml-py",
            evidence=(Evidence("pynvml", package.version, needed="nvidia-ml-py", source=package.metadata_path),),
            remedy=Remedy(
                "Remove it, if nothing requires it; nvidia-ml-py brings the module pynvml",
                f"{uninstall(facts, 'pynvml')} && {install(facts, 'nvidia-ml-py', reinstall=True)}",
            ),
        )
    elif official is not None:
        yield ok(f"The module pynvml is of nvidia-ml-py {official.version}")
