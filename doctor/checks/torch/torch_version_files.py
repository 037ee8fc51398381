"""torch's files and its package record are of one version."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, problem
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, pinned, uninstall

CHECK = Check(
    id="torch-version-files",
    group="torch",
    title="torch's files match its package record",
    why=(
        "An install that was interrupted, or copied over another (conda and pip, two images layered), leaves libraries of two "
        "versions side by side. Imports then fail with `undefined symbol`, or worse, do not fail."
    ),
    sources=("https://packaging.python.org/en/latest/specifications/recording-installed-packages/",),
)


def look(facts: Facts) -> Iterator[Result]:
    torch = facts.torch
    broken = next((failure for failure in facts.failures if failure.probe == "torch-version"), None)
    if torch is not None and broken is not None:
        recorded = pinned("torch", torch.metadata_version) if torch.metadata_version else "torch"
        yield problem(
            f"`import torch` fails: {broken.detail}",
            evidence=(Evidence("torch/version.py", broken.detail, needed="torch's version", source=torch.path),),
            remedy=Remedy("Install torch again", install(facts, recorded, reinstall=True)),
        )
        return
    if torch is None or not torch.metadata_version or not torch.version:
        return
    public, _, local = torch.version.partition("+")
    recorded, _, recorded_local = torch.metadata_version.partition("+")
    evidence = Evidence(
        "torch/version.py", torch.version, needed=torch.metadata_version, source=f"{torch.path}, package metadata"
    )
    # Wheels of the default index carry their build in version.py only.
    if public == recorded and (not local or not recorded_local or local == recorded_local):
        yield ok(f"torch's files and its package record agree on {torch.version}", evidence=(evidence,))
        return
    wanted = pinned("torch", torch.metadata_version)
    yield problem(
        f"torch's files are of version {torch.version}, but {torch.metadata_version} is recorded as installed: one "
        "install was written over another",
        evidence=(evidence,),
        remedy=Remedy(
            "Remove it, twice if pip still finds one, and install one version",
            f"{uninstall(facts, 'torch')} && {install(facts, wanted)}",
        ),
        cause="several-torch-copies",
    )
