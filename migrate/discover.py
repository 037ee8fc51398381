"""Which files a run looks at.

Inside a git work tree git itself lists them, so that ignore rules mean exactly what they mean to git; elsewhere folders
are walked and `.gitignore` files are read. Either way a file is listed once, under its real path.

Repositories inside a repository (submodules, clones) have a history and a root of their own. They are left out unless
they are named, and `Discovery.nested` says which they are.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchlift.finding import Failure
from torchlift.migrate.git import GitFailed, git, work_tree_of
from torchlift.migrate.globs import PathPatterns

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyi")

# The names ruff leaves out, and what holds installed packages or caches besides. A plain `env` is not among them:
# reinforcement learning code keeps its environments there. Virtual environments are known by what they contain.
DEFAULT_EXCLUDES = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".jj", ".mypy_cache", ".nox",
    ".pants.d", ".pixi", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode",
    "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
    "*.egg-info",
)  # fmt: skip

_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta/history")
_PROJECT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True)
class Discovery:
    """What the named paths stand for.

    Attributes:
        root: folder that all paths are relative to; the one asked for, or a folder above it where a path lies outside.
        files: files to analyse, sorted, with forward slashes. Names that are not valid Unicode hold surrogates, as
            `os.fsdecode` makes them.
        failures: what could not be listed, by path.
        excluded_explicit: named paths that an exclude pattern left out.
        nested: repositories inside the named folders that were left out because they are not part of this one.
    """

    root: Path
    files: tuple[str, ...]
    failures: tuple[Failure, ...] = ()
    excluded_explicit: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()


def find_root(paths: Sequence[Path]) -> Path:
    """The project that `paths` (default: the current folder) belong to, as an absolute path without symbolic links.

    That is the git work tree around the first path, else the nearest folder above it with a `pyproject.toml`,
    `setup.py` or `setup.cfg`, else the path itself or, for a file, its folder. Where another path lies outside, it is
    found in the same way from the folder that all paths have in common.
    """
    folders = [_folder_of(os.path.realpath(path)) for path in paths] or [os.path.realpath(".")]
    root = _project_around(folders[0])
    if all(_is_within(folder, root) for folder in folders):
        return Path(root)
    common = _common(folders)
    return Path(root if common is None else _project_around(common))


def discover(
    paths: Sequence[Path],
    root: Path,
    *,
    exclude: Sequence[str] | None = None,
    extend_exclude: Sequence[str] = (),
    force_exclude: bool = False,
    respect_gitignore: bool = True,
    base: Path | None = None,
) -> Discovery:
    """List the files that `paths` stand for.

    In folders these are `.py` and `.pyi` files that neither git nor a pattern leaves out. A named file is taken whatever
    its suffix and even if it is ignored; so is a named folder.

    Args:
        paths: files and folders.
        root: what the result is relative to; paths outside it move it up.
        exclude: patterns (see `globs`) in the place of `DEFAULT_EXCLUDES`.
        extend_exclude: further patterns.
        force_exclude: whether patterns also apply to the named paths themselves and to the folders above them.
        respect_gitignore: whether ignored files are left out.
        base: folder that patterns with a slash are relative to, `root` or above it; anything else means `root`.
    """
    top = os.path.realpath(root)
    real = [os.path.realpath(path) for path in paths]
    outside = [path for path in real if not _is_within(path, top)]
    if outside:
        top = _common([top, *map(_folder_of, outside)]) or top
    listing = _Listing(top, _Excludes(top, exclude, extend_exclude, base), respect_gitignore)
    for named, path in zip(paths, real, strict=True):
        listing.add(named, path, force_exclude)
    listing.list_folders()
    return Discovery(
        Path(top),
        tuple(sorted(listing.files)),
        tuple(sorted(listing.failures, key=lambda failure: (failure.path, failure.reason))),
        tuple(sorted(listing.excluded)),
        tuple(sorted(listing.nested)),
    )


class _Excludes:
    """Exclude patterns over paths relative to `top`; answers for folders are remembered."""

    def __init__(self, top: str, exclude: Sequence[str] | None, extend: Sequence[str], base: Path | None) -> None:
        self._patterns = PathPatterns([*(DEFAULT_EXCLUDES if exclude is None else exclude), *extend])
        start = os.path.realpath(base) if base is not None else top
        self._prefix = _relative(top, start) + "/" if start != top and _is_within(top, start) else ""
        self._folders: dict[tuple[str, str], bool] = {}

    def matches(self, path: str) -> bool:
        return self._patterns.matches(self._prefix + path)

    def covers(self, path: str) -> bool:
        """Whether a pattern leaves out `path` or any folder between it and the top."""
        return self.below("", path)

    def below(self, named: str, path: str) -> bool:
        """Whether a pattern leaves out `path` or a folder between it and the folder `named`."""
        return path != named and (self.matches(path) or self._folder_below(named, path.rpartition("/")[0]))

    def _folder_below(self, named: str, folder: str) -> bool:
        if folder in {named, ""}:
            return False
        key = (named, folder)
        known = self._folders.get(key)
        if known is None:
            known = self._folders[key] = self.below(named, folder)
        return known


@dataclass
class _Listing:
    """Collects the result; paths are absolute and real on the way in and relative to `top` on the way out."""

    top: str
    excludes: _Excludes
    respect_gitignore: bool
    files: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)
    excluded: set[str] = field(default_factory=set)
    nested: set[str] = field(default_factory=set)
    folders: dict[str, None] = field(default_factory=dict)

    # Named paths

    def add(self, named: Path, real: str, force_exclude: bool) -> None:
        """Take one path of the command line; folders are listed later, together."""
        shown = os.fspath(named)
        if not _is_within(real, self.top):
            self.fail(shown, f"`{shown}` is on another drive than the project; run torchlift on it separately.")
            return
        try:
            mode = os.stat(real).st_mode
        except OSError as error:
            self.fail(shown, _why_not(shown, error))
            return
        relative = _relative(real, self.top)
        if force_exclude and relative and self.excludes.covers(relative):
            self.excluded.add(relative)
        elif stat.S_ISDIR(mode):
            self.folders[real] = None
        elif stat.S_ISREG(mode):
            self.files.add(relative)
        else:
            self.fail(shown, f"`{shown}` is neither a file nor a folder, so there is nothing to analyse.")

    def fail(self, path: str, reason: str) -> None:
        self.failures.append(Failure(path, "discover", reason))

    # Folders

    def list_folders(self) -> None:
        """List every named folder, with one git process a repository."""
        by_tree: dict[str, list[str]] = {}
        for folder in self.folders:
            tree = work_tree_of(folder) if self.respect_gitignore else None
            if tree is None:
                self.walk(folder, None)
            else:
                by_tree.setdefault(tree, []).append(folder)
        for tree, folders in by_tree.items():
            try:
                self.ask_git(tree, folders)
            except GitFailed:
                for folder in folders:
                    self.walk(folder, tree)

    def ask_git(self, tree: str, folders: Sequence[str]) -> None:
        """List `folders` of one work tree.

        Raises:
            GitFailed: git is missing or cannot read the repository.
        """
        ignored = _ignored_folders(tree, folders)
        wanted = [folder for folder in folders if folder not in ignored]
        if wanted:
            everything = tree in wanted
            listed, complaints = _git_listing(tree, () if everything else [_relative(folder, tree) for folder in wanted])
            prefix = _prefix(_relative(tree, self.top))
            for folder in wanted:
                self.take_listing(prefix, listed, _relative(folder, self.top))
            self.failures += _unreadable_folders(prefix, complaints)
        for folder in ignored:
            self.walk(folder, None, respect_gitignore=False)

    def take_listing(self, prefix: str, listed: Iterable[_Listed], named: str) -> None:
        """Take the listed files below the folder `named`; `prefix` leads from the top to the work tree."""
        inside = _prefix(named)
        environments: set[str] = set()
        sources: list[str] = []
        for entry in listed:
            path = prefix + entry.path
            if not path.startswith(inside):
                continue
            if entry.is_repository:
                if not self.excludes.below(named, path):
                    self.nested.add(path)
            elif path.endswith(SUFFIXES):
                sources.append(path)
            else:
                environments.update(path[: -len(mark)] for mark in _ENVIRONMENT_MARKS if path.endswith("/" + mark))
        left_out = tuple(environment for environment in environments if environment != inside)
        for path in sources:
            if not path.startswith(left_out) and not self.excludes.below(named, path):
                self.take(path)

    def take(self, path: str) -> None:
        """Take the source file `path` if it is one: not deleted, not a pipe, not seen under another name."""
        real = os.path.join(self.top, path)  # noqa: PTH118 - a Path for each of thousands of files is slow
        try:
            mode = os.lstat(real).st_mode
            if stat.S_ISLNK(mode):
                real = os.path.realpath(real)
                # A link out of the project is somebody else's file, and nobody named it.
                if not _is_within(real, self.top) or not stat.S_ISREG(os.stat(real).st_mode):
                    return
                path = _relative(real, self.top)
            elif not stat.S_ISREG(mode):
                return
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            if stat_is_loop(error):
                return
            self.fail(path, _why_not(path, error))
            return
        self.files.add(path)

    def walk(self, folder: str, tree: str | None, *, respect_gitignore: bool | None = None) -> None:
        """List `folder` without git; `tree` is the work tree around it, whose ignore files count too."""
        if respect_gitignore is None:
            respect_gitignore = self.respect_gitignore
        named = _relative(folder, self.top)
        ignores = _Ignores(tree or self.top, folder) if respect_gitignore else None
        pending = [folder]
        while pending:
            current = pending.pop()
            try:
                with os.scandir(current) as scanned:
                    entries = sorted(scanned, key=lambda entry: entry.name)
            except OSError as error:
                shown = _relative(current, self.top) or "."
                self.fail(shown, _why_not(shown, error))
                continue
            names = {entry.name for entry in entries}
            if current != folder and _is_environment(current, names):
                continue
            if current != folder and ".git" in names and work_tree_of(current) == current:
                self.nested_repository(current, within=tree)
                continue
            if ignores is not None and ".gitignore" in names:
                ignores.read(current)
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and not entry.name.endswith(SUFFIXES):
                    continue
                path = _relative(entry.path, self.top)
                if (
                    entry.name == ".git"
                    or self.excludes.matches(path)
                    or (ignores is not None and ignores.match(entry.path, is_folder))
                ):
                    continue
                if is_folder:
                    pending.append(entry.path)
                else:
                    self.take(path)
        del named

    def nested_repository(self, tree: str, *, within: str | None) -> None:
        """Leave out a repository inside another one; in a plain folder of clones each is listed on its own."""
        if within is not None or not self.respect_gitignore:
            self.nested.add(_relative(tree, self.top))
            return
        try:
            self.ask_git(tree, [tree])
        except GitFailed:
            self.walk(tree, tree)
