"""Installed files are what their packages recorded."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, problem, warning
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, pinned

CHECK = Check(
    id="changed-files",
    group="packages",
    title="Installed files are as recorded",
    why=(
        "A library that was overwritten by hand, by another package or by a broken copy makes errors that no version number "
        "explains, from `undefined symbol` to `invalid ELF header`."
    ),
    sources=("https://packaging.python.org/en/latest/specifications/recording-installed-packages/",),
)


def look(facts: Facts) -> Iterator[Result]:
    shared = {file.path for file in facts.shared_files}
    for package in facts.packages:
        files = [file for file in package.changed_files if file.path not in shared]
        if not files or package.editable:
            continue
        missing = [file for file in files if file.state == "missing"]
        evidence = tuple(
            Evidence(file.path, file.state, needed="as recorded", source=package.metadata_path) for file in files[:4]
        )
        fix = Remedy(
            "Install it again",
            install(facts, pinned(package.name, package.version), reinstall=True, without_dependencies=True),
        )
        # conda rewrites paths inside the files it installs.
        if missing:
            yield problem(
                f"{len(missing)} files of {package.name} {package.version} are missing", evidence=evidence, remedy=fix
            )
        elif package.installer != "conda":
            yield warning(
                f"{len(files)} files of {package.name} {package.version} are not the ones that were installed",
                evidence=evidence,
                remedy=fix,
            )
    if facts.packages and not any(package.changed_files for package in facts.packages):
        yield ok("The files that were looked at are as they were installed")
