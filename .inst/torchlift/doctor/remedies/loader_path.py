"""Commands that take a folder out of the loader's reach."""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

from torchlift.doctor.check import Remedy
from torchlift.doctor.facts import DriverLibrary, Facts


def hide_library(facts: Facts, library: DriverLibrary, what: str, package: str | None = None) -> Remedy:
    """The remedy that makes the loader pass over this copy of a library.

    `what` names the copy in the sentence; `package` is the name of the distribution package it usually belongs to, as
    a pattern for apt and dnf.
    """
    folder = str(PurePosixPath(library.path).parent)
    if library.found_by == "LD_LIBRARY_PATH":
        kept = [
            part for part in facts.environment.get("LD_LIBRARY_PATH", "").split(":") if part and _same(part, folder)
        ]
        rest = ":".join(kept)
        command = f"export LD_LIBRARY_PATH={shlex.quote(rest)}" if rest else "unset LD_LIBRARY_PATH"
        return Remedy(
            f"Take {what}, {folder}, out of LD_LIBRARY_PATH, also where the shell or the image sets it", command
        )
    if package is not None and facts.system.distribution in ("ubuntu", "debian"):
        return Remedy(f"Remove the package that brings {what}", f"sudo apt remove {shlex.quote(package)}")
    if package is not None and facts.system.distribution in (
        "rhel",
        "rocky",
        "almalinux",
        "centos",
        "fedora",
        "amzn",
        "ol",
    ):
        return Remedy(f"Remove the package that brings {what}", f"sudo dnf remove {shlex.quote(package)}")
    command = f"sudo sed -i '\\#^{folder}/*$#d' /etc/ld.so.conf /etc/ld.so.conf.d/*.conf && sudo ldconfig"
    return Remedy(f"Take {what}, {folder}, out of the loader's configuration", command)


def _same(part: str, folder: str) -> bool:
    return part.rstrip("/") != folder.rstrip("/")
