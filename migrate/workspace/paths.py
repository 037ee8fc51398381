"""Paths as strings: a Path object for each of thousands of files costs more than all the rest."""

# ruff: noqa: PTH109, PTH112, PTH114, PTH118, PTH120

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def folder_of(path: str) -> str:
    """The folder that a path stands for: itself, or the nearest one above it that exists."""
    while not os.path.isdir(path):
        above = os.path.dirname(path)
        if above == path:
            break
        path = above
    return path


def real_paths(paths: Sequence[Path]) -> list[str]:
    """Absolute paths without symbolic links; folders that many paths share are resolved once."""
    folders: dict[str, str] = {}
    listed: dict[str, list[str]] = {}
    result = []
    for path in paths:
        absolute = os.path.join(os.getcwd(), path)
        folder, name = os.path.split(absolute)
        if name in {"", ".", ".."} or os.path.islink(absolute):
            result.append(os.path.realpath(absolute))
            continue
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        result.append(os.path.join(folders[folder], _as_listed(folders[folder], name, listed)))
    return result


def _as_listed(folder: str, name: str, listed: dict[str, list[str]]) -> str:
    """The name as its folder has it: where case is ignored, writing a file by another spelling would rename it."""
    other = name.swapcase()
    if other == name or not os.path.lexists(os.path.join(folder, other)):
        return name
    if folder not in listed:
        try:
            listed[folder] = os.listdir(folder)  # noqa: PTH208 - names, in the order of the folder
        except OSError:
            listed[folder] = []
    found = [each for each in listed[folder] if each.casefold() == name.casefold()]
    return name if name in found or not found else found[0]


def common_folder(folders: Sequence[str]) -> str | None:
    """The folder above all of some folders; None where there is none."""
    try:
        return os.path.commonpath(folders)
    except ValueError:  # Windows: nothing is above two drives
        return None


def is_within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies below it; neither has a symbolic link in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def relative_name(path: str, folder: str) -> str:
    """`path` below `folder` with forward slashes; empty for the folder itself."""
    return path[len(folder) :].lstrip(os.sep).replace(os.sep, "/")


def prefix_of(folder: str) -> str:
    """What the names of files in a folder begin with, as `relative_name` gives them."""
    return f"{folder}/" if folder else ""
