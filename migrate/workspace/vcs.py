"""Which files would lose work for good if torchlift wrote them: what git has not got, nobody can bring back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path

from torchlift.migrate.workspace.git import MOST_CHARACTERS, GitFailed, git, work_tree_of

_OTHER_SYSTEMS = (".hg", ".jj", ".sl", ".svn", ".bzr")


class Reason(Enum):
    """Why a file should not be written without asking; the value continues a sentence that starts with its name."""

    DIRTY = "has uncommitted changes"
    """git has another version of it, in the index or in the last commit."""
    UNTRACKED = "is not under version control"
    """No repository around it, or it is ignored or not added there."""
    UNKNOWN_VCS = "is under a version control system that torchlift does not know"
    """There is no git repository but one of another system."""
    UNCHECKED = "is in a git repository that git cannot read"
    """git is not installed, or it refuses, say because the repository belongs to somebody else."""


def unsafe_to_write(root: Path, files: Sequence[str]) -> dict[str, Reason]:
    """The files that are not exactly as they were last committed, with the reason.

    Every repository among them (nested ones, submodules and linked work trees have their own) is asked twice, however
    many files there are. A symbolic link counts as the file it leads to.

    Args:
        root: what `files` are relative to.
        files: paths with forward slashes.
    """
    reasons: dict[str, Reason] = {}
    trees: dict[str, str | None] = {}
    by_tree: dict[str, dict[str, list[str]]] = {}
    for file in files:
        real = os.path.realpath(root / file)
        folder = os.path.split(real)[0]
        if folder not in trees:
            trees[folder] = work_tree_of(folder)
        tree = trees[folder]
        if tree is None:
            reasons[file] = Reason.UNKNOWN_VCS if _in_other_system(folder) else Reason.UNTRACKED
        else:
            inside = real[len(tree) :].lstrip(os.sep).replace(os.sep, "/")
            by_tree.setdefault(tree, {}).setdefault(inside, []).append(file)
    for tree, names in by_tree.items():
        for inside, reason in _ask(tree, list(names)).items():
            reasons.update(dict.fromkeys(names[inside], reason))
    return {file: reasons[file] for file in files if file in reasons}


def _ask(tree: str, paths: Sequence[str]) -> dict[str, Reason]:
    tracked: set[str] = set()
    changed: set[str] = set()
    try:
        for some in _chunks(paths):
            known, _ = git(["--literal-pathspecs", "ls-files", "-v", "-z", "--", *some], tree)
            for entry in _entries(known):
                tracked.add(entry[2:])
                # git was told not to look at these ("assume unchanged", "skip work tree"), so it cannot vouch for them.
                if entry[0].islower() or entry[0] == "S":
                    changed.add(entry[2:])
            status = [
                "status",
                "--porcelain=v1",
                "-z",
                "--no-renames",
                "--untracked-files=no",
                "--ignore-submodules=all",
            ]
            found, _ = git(["--literal-pathspecs", *status, "--", *some], tree)
            changed.update(entry[3:] for entry in _entries(found))
    except GitFailed:
        return dict.fromkeys(paths, Reason.UNCHECKED)
    reasons = {path: Reason.DIRTY if path in tracked else Reason.UNTRACKED for path in paths}
    return {path: reason for path, reason in reasons.items() if path in changed or path not in tracked}


def _entries(output: bytes) -> list[str]:
    return [os.fsdecode(entry) for entry in output.split(b"\0") if entry]


def _chunks(paths: Sequence[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for path in paths:
        if chunk and size + len(path) > MOST_CHARACTERS:
            yield chunk
            chunk, size = [], 0
        chunk.append(path)
        size += len(path) + 3
    if chunk:
        yield chunk


def _in_other_system(folder: str) -> bool:
    path = Path(folder)
    return any((above / mark).exists() for above in (path, *path.parents) for mark in _OTHER_SYSTEMS)
