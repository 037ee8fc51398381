"""Comparing paths that may be of another system than this one."""

from __future__ import annotations

from torchlift.doctor.facts import Facts


def path_entries(facts: Facts, variable: str) -> list[str]:
    """The folders of a path variable of the examined machine, empty entries left out."""
    separator = ";" if facts.system.os == "windows" else ":"
    return [entry for entry in facts.environment.get(variable, "").split(separator) if entry]


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies in it, by its text alone."""
    inner, outer = _plain(path), _plain(folder)
    return bool(outer) and (inner == outer or inner.startswith(outer + "/"))


def _plain(path: str) -> str:
    plain = path.replace("\\", "/").rstrip("/")
    return plain.lower() if plain[1:2] == ":" else plain
