"""Folders with files, in a repository or not, and what is found in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from repositories import git

from torchlift.migrate.workspace.discover import discover

Files = Mapping[str, str] | list[str]


def tree(folder: Path, files: Files) -> Path:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[name] if isinstance(files, Mapping) else "x = 1\n")
    return folder


def repository(folder: Path, files: Files, *, commit: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    tree(folder, files)
    if commit:
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "all", "--allow-empty")
    return folder


def found(folder: Path, *names: str) -> list[str]:
    return list(discover([folder / name for name in names] or [folder], folder).files)
