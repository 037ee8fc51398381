"""Where the installed torch comes from, which decides about what can replace it."""

from __future__ import annotations

import re
from typing import Literal

from torchlift.doctor.facts import Facts

Origin = Literal["release", "nightly", "source", "nvidia", "conda"]
"""A wheel of a release; one of the nightly index; built from source by its user; NVIDIA's own build, part of its
container images; a package of conda."""


def torch_origin(facts: Facts) -> Origin:
    """Told from the version and the installer; "release" where nothing says otherwise."""
    if facts.torch is None:
        return "release"
    package = facts.package("torch")
    public, _, local = facts.torch.version.partition("+")
    if image_of(facts):
        # NVIDIA's wheels for Jetson are named alike and are installed by pip.
        return "release" if facts.system.jetson_release else "nvidia"
    if package is not None and package.installer == "conda":
        return "conda"
    if ".dev" in public:
        return "nightly"
    if local.startswith("git") or re.search(r"a\d+$", public) or (package is not None and package.editable):
        return "source"
    return "release"


def image_of(facts: Facts) -> str | None:
    """ "25.10" for torch 2.9.0a0+145a3a7bda.nv25.10, which NVIDIA's container image of that name holds."""
    found = re.search(r"\bnv(\d\d\.\d\d)", facts.torch.version.partition("+")[2]) if facts.torch is not None else None
    return found[1] if found else None
