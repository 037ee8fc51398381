"""One torch on the path."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.derived.paths import path_entries, within
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="several-torch-copies",
    group="torch",
    title="There is one torch on sys.path",
    why=(
        "Which copy is imported depends on the order of sys.path, and extensions built for the other one then fail with "
        "`undefined symbol` or `operator torchvision::nms does not exist`."
    ),
    sources=("https://github.com/pytorch/vision/issues/9174",),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None:
        return
    if not facts.torch.other_copies:
        yield ok(f"There is one torch on sys.path, {facts.torch.path}")
        return
    cause = None
    if any(within(facts.torch.path, entry) for entry in path_entries(facts, "PYTHONPATH")):
        cause = "pythonpath-torch"
    elif facts.python.user_site and within(facts.torch.path, facts.python.user_site):
        cause = "user-site-torch"
    yield warning(
        f"There are {1 + len(facts.torch.other_copies)} copies of torch on sys.path; {facts.torch.path} is taken",
        evidence=tuple(
            Evidence("another torch", path, needed="none", source="sys.path") for path in facts.torch.other_copies
        ),
        remedy=Remedy("Uninstall the copies that are not meant, or use an environment of its own"),
        link="https://github.com/pytorch/vision/issues/9174",
        cause=cause,
    )
