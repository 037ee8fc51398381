"""torch loads the CUDA libraries of its own environment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, warning
from torchlift.doctor.derived.paths import path_entries, within
from torchlift.doctor.derived.torch_origin import torch_origin
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="library-path",
    group="environment",
    title="torch loads the CUDA libraries of its own environment",
    why=(
        "The libraries of a toolkit on LD_LIBRARY_PATH can take the place of the ones torch was built with. The wheels of "
        "torch 2.15 look into their own environment first (DT_RPATH), so this mostly is harmless; what is loaded later by "
        "name is not covered, and other packages may look there first."
    ),
    sources=(
        "import torch 2.15.0 with foreign libraries on LD_LIBRARY_PATH, tried 2026-11-21",
        "https://man7.org/linux/man-pages/man8/ld.so.8.html",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    torch = facts.torch
    if torch is None or torch.cuda is None or facts.system.os != "linux":
        return
    # A torch that is built against the machine's own toolkit needs that folder.
    if torch_origin(facts) in ("nvidia", "source", "conda") and not torch.foreign_libraries:
        return
    toolkits = [
        entry
        for entry in path_entries(facts, "LD_LIBRARY_PATH")
        if any(within(entry, toolkit.path) for toolkit in facts.toolkits) or "/cuda-" in entry or "/cuda/" in entry
    ]
    # Stubs and compatibility folders belong to the checks of the driver.
    toolkits = [entry for entry in toolkits if not re.search(r"/(stubs|compat)(/|$)", entry)]
    if torch.foreign_libraries:
        yield warning(
            f"import torch loads CUDA libraries from outside of its environment, such as {torch.foreign_libraries[0]}",
            evidence=tuple(
                Evidence("loaded library", path, needed="one of the environment", source="/proc/self/maps")
                for path in torch.foreign_libraries[:6]
            ),
            remedy=Remedy("Start without it", "unset LD_LIBRARY_PATH") if toolkits else None,
        )
    elif toolkits:
        yield note(
            f"LD_LIBRARY_PATH holds a CUDA toolkit, {toolkits[0]}: torch's wheels do not need it",
            evidence=(Evidence("LD_LIBRARY_PATH", ":".join(toolkits), needed="no toolkit", source="environment"),),
            remedy=Remedy("Unset it, unless another program needs it", "unset LD_LIBRARY_PATH"),
            confidence="likely",
        )
    else:
        yield ok("LD_LIBRARY_PATH holds no CUDA toolkit")
