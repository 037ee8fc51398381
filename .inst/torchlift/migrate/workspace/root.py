"""Which folder is the project that some paths belong to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from torchlift.migrate.workspace.git import work_tree_of
from torchlift.migrate.workspace.paths import common_folder, folder_of, is_within, real_paths

_PROJECT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")


def project_root(named: Sequence[Path]) -> Path:
    """The folder of the project that holds all `named` paths.

    The nearest folder with packaging metadata, so that a project inside a larger repository stands for itself; where
    the paths belong to several projects, or there is no metadata, the repository.
    """
    outer = find_root(named)
    found = set()
    for path in named:
        folder = path.absolute() if path.is_dir() else path.absolute().parent
        folder = folder.resolve()
        while not any((folder / name).is_file() for name in _PROJECT_MARKS):
            if folder in {outer, folder.parent}:
                return outer
            folder = folder.parent
        found.add(folder)
    return found.pop() if len(found) == 1 else outer


def find_root(paths: Sequence[Path]) -> Path:
    """The project that `paths` (default: the current folder) belong to, as an absolute path without symbolic links.

    That is the git work tree around the first path, else the nearest folder above it with a `pyproject.toml`,
    `setup.py` or `setup.cfg`, else the path itself or, for a file, its folder. Where another path lies outside, it is
    found in the same way from the folder that all paths have in common.
    """
    folders = [folder_of(path) for path in real_paths(paths)] or [os.path.realpath(".")]
    root = _project_around(folders[0])
    if all(is_within(folder, root) for folder in folders):
        return Path(root)
    common = common_folder(folders)
    return Path(root if common is None else _project_around(common))


def _project_around(folder: str) -> str:
    tree = work_tree_of(folder)
    if tree is not None:
        return tree
    path = Path(folder)
    marked = (above for above in (path, *path.parents) if any((above / mark).is_file() for mark in _PROJECT_MARKS))
    return os.fspath(next(marked, path))
