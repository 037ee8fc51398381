"""Versions that the fixtures name are versions that exist, by the wheel tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doctor_machines import FIXTURES, MACHINES, healthy
from packaging.specifiers import SpecifierSet

from torchlift.wheels.offers import known_versions
from torchlift.wheels.tables import table

FILES = sorted(FIXTURES.glob("*/*.json"))
LATER = {"2.16.0", "2.17.0", "3.1.0", "3.7.0"}
"""Releases of torch that cases invent on purpose: what is newer than the tables."""
ODD_TRITON = {"main"}


def named(value: Any) -> Iterator[tuple[str, str]]:
    """Packages of the torch family and their versions, wherever a fixture names them."""
    if isinstance(value, dict):
        if isinstance(value.get("name"), str) and "metadata_path" in value:
            yield value["name"], value["version"]
        for key, inner in value.items():
            path = re.fullmatch(r"packages\.([\w-]+)\.version|(torch)\.version", key)
            if path and isinstance(inner, str):
                yield path[1] or path[2], inner
            yield from named(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from named(inner)


def known(name: str) -> set[str]:
    """Releases that the tables know; for Triton those that a torch asks for."""
    if name == "torch":
        return set(known_versions()) | LATER
    rows = table("companions")["rows"]
    if name == "triton":
        return {row["pins"]["triton"].lstrip("=~") for row in rows} | ODD_TRITON
    return {row[name] for row in rows if row[name]} | {row["version"] for row in table("companions").get(name, ())}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_each_version_that_a_fixture_names_is_in_the_tables(file: Path) -> None:
    for name, version in named(json.loads(file.read_text(encoding="utf-8"))):
        public = version.partition("+")[0]
        # Nightlies, builds from source and NVIDIA's own are in no table.
        if name in ("torch", "torchvision", "torchaudio", "triton") and re.fullmatch(r"[\d.]+|main", public):
            assert public in known(name), f"{name} {version}"


@pytest.mark.parametrize("machine", MACHINES)
def test_the_companions_of_a_healthy_machine_are_those_of_its_torch(machine: str) -> None:
    facts = healthy(machine)
    assert facts.torch is not None
    row = next(row for row in table("companions")["rows"] if row["torch"] == facts.torch.version.partition("+")[0])
    for package in facts.packages:
        version = package.version.partition("+")[0]
        if package.name in ("torchvision", "torchaudio"):
            assert row[package.name] in (version, None), package.name  # the last torchaudio asks for no torch
        elif package.name in row["pins"]:
            assert SpecifierSet(row["pins"][package.name]).contains(version), package.name


def test_a_version_that_was_never_released_is_found() -> None:
    assert "0.30.0" not in known("torchvision") and "0.29.2" in known("torchvision")
    assert dict(named({"packages.torchvision.version": "0.30.0"})) == {"torchvision": "0.30.0"}
