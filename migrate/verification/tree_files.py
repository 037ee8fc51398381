"""Which files of the user's tree a copy of it needs."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.workspace.excludes import DEFAULT_EXCLUDES
from torchlift.migrate.workspace.git import GitFailed, git

_NOT_ENTERED = frozenset(name for name in DEFAULT_EXCLUDES if "*" not in name) - {
    "build",
    "dist",
    "_build",
    "site-packages",
}
_IMPORTABLE = (".py", ".pyi", ".so", ".pyd", ".dylib", ".dll")


@dataclass(frozen=True)
class TreeFiles:
    """What a copy consists of; paths are relative, with the separators of the system.

    Attributes:
        files: files and symbolic links to copy.
        environments: folders with a Python environment, which the copy shares.
    """

    files: tuple[str, ...]
    environments: tuple[str, ...]


def files_of(tree: str, *, is_git: bool) -> TreeFiles:
    """The files to copy.

    In a git repository: what it tracks as it lies there now, changed or not, what is untracked and not ignored, and of
    what is ignored that which Python can import (built extensions, generated modules). Elsewhere: everything but caches.

    Args:
        tree: an absolute path.
        is_git: whether it is the top of a git work tree.
    """
    if not is_git:
        return _walked(tree, "", all_files=True)
    try:
        known, _ = git(["ls-files", "-z", "--cached", "--others", "--exclude-standard"], tree)
        ignored, _ = git(["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"], tree)
    except GitFailed:
        return _walked(tree, "", all_files=True)
    found = _Found()
    for name in dict.fromkeys(_names(known)):
        path = os.path.join(tree, name)
        if os.path.isdir(path) and not os.path.islink(path):
            found.take(_walked(tree, name, all_files=True))  # a submodule, or a repository in the repository
        elif os.path.lexists(path):
            found.files.append(name)
    for name in _names(ignored):
        path = os.path.join(tree, name)
        if os.path.isdir(path) and not os.path.islink(path):
            found.take(_walked(tree, name, all_files=False))
        elif name.endswith(_IMPORTABLE):
            found.files.append(name)
    return found.result()


class _Found:
    def __init__(self) -> None:
        self.files: list[str] = []
        self.environments: list[str] = []

    def take(self, more: TreeFiles) -> None:
        self.files += more.files
        self.environments += more.environments

    def result(self) -> TreeFiles:
        shared = tuple(f"{folder}{os.sep}" for folder in self.environments)
        files = [name for name in dict.fromkeys(self.files) if not shared or not name.startswith(shared)]
        return TreeFiles(tuple(files), tuple(dict.fromkeys(self.environments)))


def _walked(tree: str, inside: str, *, all_files: bool) -> TreeFiles:
    found = _Found()
    name = inside.rstrip(os.sep)
    if name and _is_environment(os.path.join(tree, name)):
        return TreeFiles((), (name,))
    if name and os.path.basename(name) in _NOT_ENTERED:
        return TreeFiles((), ())
    for folder, folders, files in os.walk(os.path.join(tree, name) if name else tree):
        entered = []
        for one in folders:
            path = os.path.join(folder, one)
            relative = os.path.relpath(path, tree)
            if os.path.islink(path):
                found.files.append(relative)
            elif _is_environment(path):
                found.environments.append(relative)
            elif one not in _NOT_ENTERED:
                entered.append(one)
        folders[:] = entered
        found.files += [
            os.path.relpath(os.path.join(folder, one), tree)
            for one in files
            if (all_files or one.endswith(_IMPORTABLE)) and _is_plain(os.path.join(folder, one))
        ]
    return found.result()


def _is_environment(folder: str) -> bool:
    marks = ("pyvenv.cfg", os.path.join("conda-meta", "history"))
    return any(os.path.isfile(os.path.join(folder, mark)) for mark in marks)


def _is_plain(path: str) -> bool:
    """Whether it can be copied: a file or a link, no pipe and no socket."""
    return os.path.islink(path) or os.path.isfile(path)


def _names(output: bytes) -> Iterator[str]:
    for entry in output.split(b"\0"):
        if entry:
            yield os.fsdecode(entry).rstrip("/").replace("/", os.sep)
