"""The examined interpreter: what Python it is, what is installed for it, and what its native libraries hold.

The interpreter itself says only what only it knows, in a child: `sys.path` and where `import torch` would look. All else
are files, and those are read here.
"""

# ruff: noqa: PTH112, PTH118, PTH119, PTH120

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from torchlift.doctor.facts import FACTS_SCHEMA, Facts, Package, ProbeFailure, Python
from torchlift.doctor.facts.facts_json import FactsError, from_json
from torchlift.doctor.probes import torch_import
from torchlift.doctor.probes.child import Child, ChildResult
from torchlift.doctor.probes.distributions import Distribution, conda_packages, distributions_of
from torchlift.doctor.probes.libraries import LibraryLook, OwnedFiles, torch_libraries
from torchlift.doctor.probes.recorded_files import RecordCheck
from torchlift.doctor.probes.text import printable
from torchlift.doctor.probes.torch_files import read_torch, version_problem

TIMEOUT = 20.0
"""Seconds. Starting Python takes 0.05; `.pth` files and network folders on the path may take more."""

_MACHINES = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}


def start(
    python: str,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
    import_torch: bool = False,
    scan_libraries: bool = True,
) -> Child:
    """Start asking `python`, the path of an interpreter (3.8 or newer). `environment` None inherits.

    `import_torch` also imports torch, which takes seconds, in `read`; `timeout` is for that, too.
    """
    script = Path(__file__).with_name("python_environment_child.py")
    options = {"import_torch": import_torch, "scan_libraries": scan_libraries, "timeout": timeout}
    return Child((python, str(script)), options, timeout or TIMEOUT, environment).start()


def read(result: ChildResult, facts: Facts) -> None:
    """Fill `facts.python`, `torch`, `packages`, `shared_files` and `libraries`; never raises.

    A child that did not end leaves what it had found until then, and a `ProbeFailure`.
    """
    value = result.value if isinstance(result.value, dict) else {}
    if result.outcome != "ok" or not value.get("complete"):
        outcome = result.outcome if result.outcome != "ok" else "error"
        detail = result.detail or "It ended before it had answered everything"
        if not value and detail.startswith("SyntaxError"):
            detail = f"It is too old to be examined, which takes Python 3.8 or newer ({detail})"
        facts.failures.append(ProbeFailure("interpreter", outcome, detail, result.signal, result.seconds))
    try:
        facts.python = _python(value.get("python") or {})
    except FactsError as error:
        facts.failures.append(ProbeFailure("interpreter", "error", str(error)))
        return
    if "folders" in value:
        _read_files(value, facts)
    options = value.get("options") or {}
    if options.get("import_torch") and facts.torch is not None:
        child = torch_import.start(value["python"]["executable"], value["environment"], options.get("timeout"))
        torch_import.read(child.result(), facts)


def _python(answer: dict[str, Any]) -> Python:
    # A question that failed is None, and the record's own default says so.
    known = {name: value for name, value in answer.items() if value is not None}
    python = from_json({"schema": FACTS_SCHEMA, "python": known}).python
    if python.machine:
        python.machine = _MACHINES.get(python.machine.lower(), python.machine)
    python.path = [printable(entry) for entry in python.path]
    return python


def _read_files(value: dict[str, Any], facts: Facts) -> None:
    folders = [(folder["path"], folder["metadata"]) for folder in value["folders"]]
    place = _torch_place(value.get("torch") or {}, facts)
    distributions = distributions_of(folders)
    if value["options"].get("scan_libraries"):
        look = LibraryLook(
            folders=tuple(path for path, _ in folders),
            torch=place if place and os.path.isdir(place) else None,
            prefixes=(
                facts.python.prefix or "",
                os.path.dirname(os.path.dirname(os.path.realpath(facts.python.executable))),
            ),
            environment=value.get("environment") or {},
        )
        facts.libraries = look.run(_owned(distributions, look.torch))
    linked = {library.package for library in facts.libraries}
    facts.packages, check = [], RecordCheck()
    for distribution in distributions:
        if distribution.relevant or distribution.name in linked:
            package = distribution.package()
            facts.packages.append(package)
            check.add(distribution, package)
    facts.shared_files = check.shared()
    _name_owners(facts)
    facts.packages += _conda(facts.python, facts.packages)
    if place is not None:
        copies = [os.path.join(folder["path"], name) for folder in value["folders"] for name in folder["torch"]]
        facts.torch = read_torch(place, copies, facts.packages)
        if os.path.isdir(place) and (problem := version_problem(place)) is not None:
            facts.failures.append(ProbeFailure("torch-version", "error", problem))


def _owned(distributions: Iterable[Distribution], torch: str | None) -> list[OwnedFiles]:
    owned = [OwnedFiles(one.name, tuple(one.libraries()), one.relevant) for one in distributions]
    if torch is not None:
        # Only those that no RECORD names are new: an editable torch, or one of conda.
        owned.append(OwnedFiles("torch", tuple(torch_libraries(torch)), True))
    return owned


def _name_owners(facts: Facts) -> None:
    """A library that several distributions claim is of the one whose file it is."""
    owners = {shared.path: shared.matches[0] for shared in facts.shared_files if len(shared.matches) == 1}
    for library in facts.libraries:
        library.package = owners.get(library.path, library.package)


def _conda(python: Python, packages: Iterable[Package]) -> list[Package]:
    if not python.conda_environment:
        return []
    return conda_packages(python.conda_environment, frozenset(package.name for package in packages))


def _torch_place(answer: dict[str, Any], facts: Facts) -> str | None:
    """The folder or file that `import torch` would take; what is odd about it is a `ProbeFailure`."""
    if error := answer.get("error"):
        detail = f"Looking for torch failed inside the interpreter's import system: {printable(error)}"
        facts.failures.append(ProbeFailure("torch-files", "error", detail))
    origin = answer.get("origin")
    if isinstance(origin, str):
        return os.path.dirname(origin) if os.path.basename(origin).startswith("__init__.") else origin
    if locations := answer.get("locations"):
        where = printable(str(locations[0]))
        detail = (
            f"{where} has no __init__.py: it is what an uninstalled torch left behind, or a folder by chance named so"
        )
        facts.failures.append(ProbeFailure("torch-folder", "error", detail))
    return None
