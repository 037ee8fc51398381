"""torch is no debug build."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result
from torchlift.doctor.facts import Facts


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.debug is None:
        return
    evidence = Evidence("debug in torch/version.py", str(facts.torch.debug), "False", f"{facts.torch.path}/version.py")
    if facts.torch.debug:
        yield Result("warning", f"torch {facts.torch.version} is a debug build: everything is slower", (evidence,))
    else:
        yield Result("ok", f"torch {facts.torch.version} is a release build", (evidence,))


CHECK = Check(
    "torch-debug-build",
    "torch",
    "torch is a release build",
    "A build with DEBUG=1 is compiled without optimisation and checks far more at run time; timings taken with it mean "
    "nothing. No wheel of PyTorch's own indices is one.",
    look,
    ("setup.py of pytorch: DEBUG, build with -O0 and -g",),
)
