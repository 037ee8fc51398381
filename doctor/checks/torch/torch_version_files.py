"""torch's files and its package record are of one version."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, pinned, uninstall


def look(facts: Facts) -> Iterator[Result]:
    torch = facts.torch
    if torch is None or not torch.metadata_version or not torch.version:
        return
    public, _, local = torch.version.partition("+")
    recorded, _, recorded_local = torch.metadata_version.partition("+")
    evidence = Evidence("torch/version.py", torch.version, torch.metadata_version, f"{torch.path}, package metadata")
    # Wheels of the default index carry their build in version.py only.
    if public == recorded and (not local or not recorded_local or local == recorded_local):
        yield Result("ok", f"torch's files and its package record agree on {torch.version}", (evidence,))
        return
    wanted = pinned("torch", torch.metadata_version)
    yield Result(
        "problem",
        f"torch's files are of version {torch.version}, but {torch.metadata_version} is recorded as installed: one "
        "install was written over another",
        (evidence,),
        Remedy(
            "Remove it, twice if pip still finds one, and install one version",
            f"{uninstall(facts, 'torch')} && {install(facts, wanted)}",
        ),
        "measured",
        None,
        "several-torch-copies",
    )


CHECK = Check(
    "torch-version-files",
    "torch",
    "torch's files match its package record",
    "An install that was interrupted, or copied over another (conda and pip, two images layered), leaves libraries of two "
    "versions side by side. Imports then fail with `undefined symbol`, or worse, do not fail.",
    look,
    ("https://packaging.python.org/en/latest/specifications/recording-installed-packages/",),
)
