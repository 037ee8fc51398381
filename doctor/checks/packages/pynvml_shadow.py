"""The module `pynvml` is NVIDIA's."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, uninstall


def look(facts: Facts) -> Iterator[Result]:
    package = facts.package("pynvml")
    official = facts.package("nvidia-ml-py")
    if package is not None:
        yield Result(
            "note",
            f"pynvml {package.version} is installed, a deprecated package beside NVIDIA's nvidia-ml-py",
            (Evidence("pynvml", package.version, "nvidia-ml-py", package.metadata_path),),
            Remedy(
                "Remove it, if nothing requires it; nvidia-ml-py brings the module pynvml",
                f"{uninstall(facts, 'pynvml')} && {install(facts, 'nvidia-ml-py', reinstall=True)}",
            ),
        )
    elif official is not None:
        yield Result("ok", f"The module pynvml is of nvidia-ml-py {official.version}")


CHECK = Check(
    "pynvml-shadow",
    "packages",
    "The module pynvml is NVIDIA's own",
    "Two packages install a module pynvml. With the old one torch warns `FutureWarning: The pynvml package is deprecated. "
    "Please install nvidia-ml-py instead.`",
    look,
    ("https://pypi.org/project/pynvml/", "https://pypi.org/project/nvidia-ml-py/"),
)
