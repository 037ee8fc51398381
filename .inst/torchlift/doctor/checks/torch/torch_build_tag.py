"""The wheel is the last upload of its version."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, pinned
from torchlift.wheels.tables import table

CHECK = Check(
    id="torch-build-tag",
    group="torch",
    title="The torch wheel is the last upload of its version",
    why=(
        "Two machines with the same torch version can hold different files when a wheel was uploaded again under a higher "
        "build tag; versions alone do not show the difference."
    ),
    sources=(
        "https://packaging.python.org/en/latest/specifications/binary-distribution-format/#file-name-convention",
        "File list of torch on PyPI, read 2026-11-21",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    package = facts.package("torch")
    if package is None or package.source_url:
        return
    last = _last_upload(package.version, facts.system.os)
    if last is None:
        return
    number = re.match(r"\d{1,4}", package.build_tag or "", re.ASCII)
    evidence = Evidence(
        "build tag of the wheel", package.build_tag or "none", needed=str(last), source=package.metadata_path
    )
    if number is not None and int(number[0]) >= last:
        yield ok(f"torch {package.version} is build {package.build_tag}, the last upload", evidence=(evidence,))
        return
    yield note(
        f"torch {package.version} was uploaded again as build {last}, and this is an earlier upload",
        evidence=(evidence,),
        remedy=Remedy(
            "Install the version again to get the last upload",
            install(facts, pinned("torch", package.version), reinstall=True, without_dependencies=True),
        ),
        confidence="table",
    )


def _last_upload(version: str, os: str) -> int | None:
    """The build tag of the last upload of a version that was uploaded more than once."""
    rows = table("releases")["uploads"]
    return next((row["build_tag"] for row in rows if (row["version"], row["os"]) == (version, os)), None)
