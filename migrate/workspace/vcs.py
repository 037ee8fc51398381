"""Which files would lose work for good if torchlift wrote them: what git has not got, nobody can bring back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path

from torchlift.migrate.workspace.blobs import ATTRIBUTES, BlobComparison, GitConversions, compared
from torchlift.migrate.workspace.git import MOST_CHARACTERS, GitFailed, git, work_tree_of

_OTHER_SYSTEMS = (".hg", ".jj", ".sl", ".svn", ".bzr")


class Reason(Enum):
    """Why a file should not be written without asking; the value continues a sentence that starts with its name."""

    DIRTY = "has uncommitted changes"
    """git has another version of it, in the index or in the last commit."""
    FILTERED = "is kept by git through a filter, which torchlift does not run, so it cannot be compared"
    """The repository's attributes name a filter for it, and it is not what git has."""
    UNTRACKED = "is not under version control"
    """No repository around it, or it is ignored or not added there."""
    UNKNOWN_VCS = "is under a version control system that torchlift does not know"
    """There is no git repository but one of another system."""
    UNCHECKED = "is in a git repository that git cannot read"
    """git is not installed, or it refuses, say because the repository belongs to somebody else."""


def refusals(root: Path, files: Sequence[str], *, allow_dirty: bool, allow_no_vcs: bool) -> dict[str, str]:
    """The files that must not be written, with the reason and what allows it: the end of a sentence about the file.

    Args:
        root: what `files` are relative to.
        files: paths with forward slashes.
        allow_dirty: whether those with changes that git has not got may be.
        allow_no_vcs: whether those may be that no git repository has.
    """
    refused = {}
    for path, reason in unsafe_to_write(root, files).items():
        dirty = reason in {Reason.DIRTY, Reason.FILTERED}
        if allow_dirty if dirty else allow_no_vcs:
            continue
        flag = "--allow-dirty" if dirty else "--allow-no-vcs"
        first = "`git add` it, or " if reason is Reason.UNTRACKED else ""
        refused[path] = f"{reason.value} ({first}{flag} writes it all the same)"
    return refused


def unsafe_to_write(root: Path, files: Sequence[str]) -> dict[str, Reason]:
    """The files that are not exactly as they were last committed, with the reason.

    Every repository among them (nested ones, submodules and linked work trees have their own) is asked a few times,
    however many files there are, and runs no program that its configuration names. A symbolic link counts as the file it leads to.

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
    try:
        index = _Index()
        committed: dict[str, str] = {}
        conversions: dict[str, GitConversions] = {}
        autocrlf = _autocrlf(tree)
        for some in _chunks(paths):
            index.read(git(["--literal-pathspecs", "ls-files", "-v", "--stage", "-z", "--", *some], tree)[0])
            asked = git(["check-attr", "-z", *ATTRIBUTES, "--", *some], tree)[0]
            conversions.update(_conversions(asked, autocrlf))
            known, complaints = git(
                ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", "HEAD", "--", *some], tree, accept=(0, 128)
            )
            if not known and "Not a valid object name HEAD" not in complaints and complaints:
                raise GitFailed(complaints)
            committed.update(_blobs(known))
    except GitFailed:
        return dict.fromkeys(paths, Reason.UNCHECKED)
    reasons: dict[str, Reason] = {}
    for path in paths:
        if path not in index.tracked:
            reasons[path] = Reason.UNTRACKED
            continue
        blob = index.blobs.get(path)
        if blob is None or committed.get(path) != blob:
            reasons[path] = Reason.DIRTY
            continue
        told = compared(Path(tree, path), blob, conversions.get(path, GitConversions()))
        if told is not BlobComparison.SAME:
            reasons[path] = Reason.DIRTY if told is BlobComparison.OTHER else Reason.FILTERED
    return reasons


class _Index:
    """What the index says of some files.

    Attributes:
        tracked: files that are in it.
        blobs: names of the blobs of those that git looks at and that are in no conflict.
    """

    def __init__(self) -> None:
        self.tracked: set[str] = set()
        self.blobs: dict[str, str] = {}

    def read(self, output: bytes) -> None:
        """Take in the entries of `ls-files -v --stage -z`: `H 100644 NAME 0<TAB>path`."""
        for entry in _entries(output):
            about, _, path = entry.partition("\t")
            tag, _, blob, stage = about.split(" ")
            self.tracked.add(path)
            # git was told not to look at some ("assume unchanged", "skip work tree"), so it cannot vouch for them.
            if stage == "0" and not tag.islower() and tag != "S":
                self.blobs[path] = blob


def _blobs(output: bytes) -> Iterator[tuple[str, str]]:
    """Path and blob of each entry of `ls-tree -z`: `100644 blob NAME<TAB>path`."""
    for entry in _entries(output):
        about, _, path = entry.partition("\t")
        yield path, about.rpartition(" ")[2]


def _conversions(output: bytes, autocrlf: bool) -> dict[str, GitConversions]:
    """What `check-attr -z` says: path, attribute and value, one after the other."""
    found: dict[str, dict[str, str]] = {}
    fields = iter([os.fsdecode(field) for field in output.split(b"\0")[:-1]])
    for path, name, value in zip(fields, fields, fields, strict=True):
        found.setdefault(path, {})[name] = value
    return {path: GitConversions.of(attributes, autocrlf=autocrlf) for path, attributes in found.items()}


def _autocrlf(tree: str) -> bool:
    said, _ = git(["config", "--get", "core.autocrlf"], tree, accept=(0, 1))
    return os.fsdecode(said).strip().lower() in {"true", "input", "yes", "on", "1"}


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
