"""One torch on the path."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.derived.paths import path_entries, within
from torchlift.doctor.facts import Facts


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None:
        return
    if not facts.torch.other_copies:
        yield Result("ok", f"There is one torch on sys.path, {facts.torch.path}")
        return
    cause = None
    if any(within(facts.torch.path, entry) for entry in path_entries(facts, "PYTHONPATH")):
        cause = "pythonpath-torch"
    elif facts.python.user_site and within(facts.torch.path, facts.python.user_site):
        cause = "user-site-torch"
    yield Result(
        "warning",
        f"There are {1 + len(facts.torch.other_copies)} copies of torch on sys.path; {facts.torch.path} is taken",
        tuple(Evidence("another torch", path, "none", "sys.path") for path in facts.torch.other_copies),
        Remedy("Uninstall the copies that are not meant, or use an environment of its own"),
        "measured",
        "https://github.com/pytorch/vision/issues/9174",
        cause,
    )


CHECK = Check(
    "several-torch-copies",
    "torch",
    "There is one torch on sys.path",
    "Which copy is imported depends on the order of sys.path, and extensions built for the other one then fail with "
    "`undefined symbol` or `operator torchvision::nms does not exist`.",
    look,
    ("https://github.com/pytorch/vision/issues/9174",),
)
