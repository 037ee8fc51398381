"""torch.compile finds a C compiler."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.derived.visible_gpus import visible_gpus
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="host-compiler",
    group="environment",
    title="torch.compile finds a C compiler",
    why=(
        "Triton compiles a small C module for each kernel's launcher. In slim containers torch.compile therefore stops with "
        "`Failed to find C compiler. Please specify via CC environment variable`."
    ),
    sources=("triton/runtime/build.py of Triton 3.6.0 to 3.9.0",),
)

_INSTALL = {
    "ubuntu": "apt-get install -y gcc g++",
    "debian": "apt-get install -y gcc g++",
    "fedora": "dnf install -y gcc gcc-c++",
    "rhel": "dnf install -y gcc gcc-c++",
    "rocky": "dnf install -y gcc gcc-c++",
    "almalinux": "dnf install -y gcc gcc-c++",
}


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None or facts.system.os != "linux":
        return
    if not any(gpu.capability is not None and gpu.capability >= (7, 0) for gpu in visible_gpus(facts).gpus):
        return
    found = next(
        (facts.system.compilers[name] for name in ("gcc", "cc", "clang") if name in facts.system.compilers), None
    )
    own = facts.environment.get("CC")
    if found or own:
        yield ok(f"torch.compile can use the C compiler {own or found}")
    else:
        yield note(
            "There is no C compiler on PATH: torch.compile fails, eager mode works",
            evidence=(Evidence("C compiler", "none of gcc, cc, clang", needed="one of them, or CC", source="PATH"),),
            remedy=Remedy("Install a compiler", _INSTALL.get(facts.system.distribution or "")),
        )
