"""torch is no debug build."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, ok, warning
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="torch-debug-build",
    group="torch",
    title="torch is a release build",
    why=(
        "A build with DEBUG=1 is compiled without optimisation and checks far more at run time; timings taken with it mean "
        "nothing. No wheel of PyTorch's own indices is one."
    ),
    sources=("setup.py of pytorch: DEBUG, build with -O0 and -g",),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.debug is None:
        return
    evidence = Evidence(
        "debug in torch/version.py", str(facts.torch.debug), needed="False", source=f"{facts.torch.path}/version.py"
    )
    if facts.torch.debug:
        yield warning(f"torch {facts.torch.version} is a debug build: everything is slower", evidence=(evidence,))
    else:
        yield ok(f"torch {facts.torch.version} is a release build", evidence=(evidence,))
